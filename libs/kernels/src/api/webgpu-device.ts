import type { ItemResult } from '../kernel/plane-item.ts';
import { adapterName, GpuPrograms, GpuSlot, largestBinding, roundUpCapacity, runBatch } from '../webgpu/index.ts';
import { type ComputeDevice, closedError, type Work } from './compute-device.ts';

/** The most bytes to compute at once: a tile of 4096 x 4096 pixels and a map of four bytes a pixel. */
const worthBytes = 2 ** 26 + 2 ** 23;
/** Room in a binding for data beside the planes, or the results, of an item. */
const spareBytes = 2 ** 21;

/** Computes on a WebGPU device, one item after another. */
export class WebGpuDevice implements ComputeDevice {
  readonly on = 'webgpu';
  readonly name: string;
  readonly reason: string;
  readonly mostBytes: number;
  /** Rejects with the reason when the device is lost or closed. */
  readonly ended: Promise<never>;
  readonly #device: GPUDevice;
  /** Keeps Dawn's root object referenced: if it were collected, the process would end. */
  readonly #gpu: GPU | undefined;
  readonly #programs: GpuPrograms;
  #slot: GpuSlot | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  /** `gpu`: the object that the device comes from. If given, `close` destroys the device. */
  constructor(device: GPUDevice, reason: string, gpu?: GPU) {
    this.#device = device;
    this.#gpu = gpu;
    this.#programs = new GpuPrograms(device);
    // Browsers of 2024 have no adapterInfo.
    this.name = (device.adapterInfo && adapterName(device.adapterInfo)) || 'WebGPU';
    this.reason = reason;
    this.mostBytes = Math.min(worthBytes, largestBinding(device) - spareBytes);
    // Promises of a lost device may stay pending forever (seen with Dawn), so every wait ends with the device.
    this.ended = device.lost.then(({ message }) => {
      throw this.#isClosed ? closedError() : new Error(`The WebGPU device was lost: ${message}`);
    });
    this.ended.catch(() => {});
  }

  compute(work: Work): Promise<ItemResult> {
    const result = this.#last.then(() => Promise.race([this.#run(work), this.ended]));
    this.#last = result.catch(() => {});
    return result;
  }

  close(): void {
    this.#isClosed = true;
    this.#dropSlot();
    if (this.#gpu) this.#device.destroy();
  }

  async #run({ pipeline, item, bytes, withMap, fill }: Work): Promise<ItemResult> {
    if (this.#isClosed) throw closedError();
    const program = await this.#programs.of(pipeline, [item], withMap);
    if (this.#slot && this.#slot.capacity < bytes) this.#dropSlot();
    this.#slot ??= new GpuSlot(this.#device, roundUpCapacity(bytes, 2 ** 20));
    try {
      fill(this.#slot.mappedBytes());
      const { items } = await runBatch(this.#device, this.#slot, program, [item], { channels: pipeline.input.length });
      this.#slot.isUploaded = false;
      return items[0]!;
    } catch (error) {
      this.#dropSlot();
      throw error;
    }
  }

  #dropSlot(): void {
    this.#slot?.destroy();
    this.#slot = undefined;
  }
}
