import { memoryAddress, memoryAt } from '@halogrid/imaging/native-memory';
import type { Pipeline, PipelineItem } from '@halogrid/kernels';
import type { ChooseStrategy, GpuHosts } from '@halogrid/kernels/gpu';
import {
  GpuPrograms,
  GpuSlot,
  largestBinding,
  requestDevice,
  roundUpCapacity,
  runBatch,
} from '@halogrid/kernels/webgpu';
import {
  type BatchResult,
  type DeviceInfo,
  type DeviceJpegs,
  DeviceLostError,
  type NodeDevice,
  type Staging,
} from './device.ts';
import { LumaExpander } from './luma-expander.ts';
import { ResultMemory } from './result-memory.ts';
import { batchBegun, batchEnded, spareCollector } from './runtime.ts';
import { tunedChoice } from './tuning-file.ts';
import { openAdapter } from './webgpu-adapter.ts';
import { decodeTimestampCount, WebGpuJpegs } from './webgpu-jpegs.ts';

/** Enough for eight batches of maps of a large image. */
const idleResultBytes = 2 ** 29;

export interface WebGpuDeviceOptions {
  /** Chooses strategies of kernels. Default: the strategies tuned for the adapter. */
  choose?: ChooseStrategy;
  /** How kernels run on GPUs. Default: the catalogue's. */
  hosts?: GpuHosts;
  /** Logs a line. */
  note?: (line: string) => void;
}

/**
 * V8 counts each range that Dawn maps as newly allocated memory: at 160 batches of 64 MiB a second, collecting garbage
 * took a third of the main thread's time (measured). So Dawn is asked for the first bytes only, and the memory that
 * begins there is viewed once.
 */
const slotOptions = {
  view: (upload: GPUBuffer, bytes: number) =>
    memoryAt(memoryAddress(new Uint8Array(upload.getMappedRange(0, 8))), bytes),
  moreTimestamps: decodeTimestampCount,
};

/** Opens the GPU, or SwiftShader. Rejects with one sentence that says why it cannot. */
export async function openWebGpuDevice(
  kind: 'gpu' | 'software',
  { choose, hosts, note = () => {} }: WebGpuDeviceOptions = {},
): Promise<NodeDevice> {
  const { adapter, info } = await openAdapter(kind);
  const device = await requestDevice(adapter);
  return new WebGpuDevice(device, info, choose ?? (await tunedChoice(info, note)), hosts);
}

class WebGpuDevice implements NodeDevice {
  readonly info: DeviceInfo;
  readonly maxStagingBytes: number;
  /** 31 frames of 1080p. Half as much gave 2 % fewer frames a second on an H200 (measured). */
  readonly batchBytes = 2 ** 26;
  readonly batchesInFlight: number;
  readonly lost: Promise<string>;
  /** False for SwiftShader: the decoders' vector code converts faster. */
  readonly takesLimited: boolean;
  readonly jpegs: DeviceJpegs;
  readonly #device: GPUDevice;
  readonly #jpegs: WebGpuJpegs;
  readonly #slots = new Set<GpuSlot>();
  readonly #free: GpuSlot[] = [];
  readonly #waiting: (() => void)[] = [];
  readonly #running = new Set<(reason: DeviceLostError) => void>();
  readonly #memory = new ResultMemory(idleResultBytes);
  readonly #programs: GpuPrograms;
  #expander: Promise<LumaExpander> | undefined;
  #failure: string | undefined;

  constructor(device: GPUDevice, info: DeviceInfo, choose: ChooseStrategy, hosts?: GpuHosts) {
    this.#device = device;
    this.#programs = new GpuPrograms(device, choose, hosts);
    this.info = info;
    this.takesLimited = info.kind === 'gpu';
    // Measured on an H200 with batches of 31 1080p frames: eight in flight reach 0.84 of the rate of decoding alone,
    // four 0.80. SwiftShader computes on the cores that decode, so more than two would only cost memory.
    this.batchesInFlight = info.kind === 'gpu' ? 8 : 2;
    // Codes take as much room as their pixels, and are read back in one buffer with the histograms of up to 1024 items.
    this.maxStagingBytes = Math.floor(largestBinding(device) / 2 ** 20 - 2) * 2 ** 20;
    const decoder = new WebGpuJpegs(device, this.maxStagingBytes);
    this.#jpegs = decoder;
    const { maxBytes, batchBytes } = decoder;
    this.jpegs = {
      maxBytes,
      batchBytes,
      prepare: (channels) => this.#orLost(decoder.prepare(channels)),
      decode: (staging, batch) => this.#orLost(decoder.decode((staging as WebGpuStaging).slot, batch)),
    };
    this.lost = new Promise((resolve) => {
      const lose = (reason: string) => {
        if (this.#failure !== undefined) return;
        this.#fail(reason);
        resolve(reason);
      };
      void device.lost.then(({ reason, message }) => {
        if (reason !== 'destroyed') lose(message);
      });
      // After an invalid call or a failed allocation later results cannot be trusted, so the whole device is given up.
      device.onuncapturederror = ({ error }) => lose(error.message);
    });
  }

  get heldBytes(): number {
    return [...this.#slots].reduce((sum, slot) => sum + slot.heldBytes, this.#jpegs.heldBytes);
  }

  async acquire(bytes: number, isLimited = false): Promise<Staging> {
    spareCollector(bytes);
    const slot = await this.#takeSlot(bytes);
    slot.isLimited = isLimited;
    batchBegun();
    return new WebGpuStaging(slot, () => {
      slot.isUploaded = false;
      this.#giveBack(slot);
    });
  }

  async run(
    staging: Staging,
    items: readonly PipelineItem[],
    pipeline: Pipeline,
    withMap: boolean,
    keep = false,
  ): Promise<BatchResult> {
    const { slot } = staging as WebGpuStaging;
    try {
      const result = await this.#orLost(this.#compute(slot, items, pipeline, withMap));
      slot.isUploaded &&= keep;
      if (!keep) this.#giveBack(slot);
      return result;
    } catch (error) {
      batchEnded();
      this.#discard(slot);
      throw this.#failure === undefined ? error : new DeviceLostError(this.#failure);
    }
  }

  async close(): Promise<void> {
    this.#fail('it was closed');
    this.#device.destroy();
  }

  /** Nothing is computed from now on; waiting callers are told. */
  #fail(reason: string): void {
    this.#failure ??= reason;
    for (const wake of this.#waiting.splice(0)) wake();
    for (const reject of this.#running) reject(new DeviceLostError(reason));
  }

  /** Promises of a lost device may stay pending forever (seen with Dawn), so every wait ends with the device. */
  #orLost<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#running.add(reject);
      work.then(resolve, reject).finally(() => this.#running.delete(reject));
    });
  }

  #expandingLuma(): Promise<LumaExpander> {
    this.#expander ??= LumaExpander.create(this.#device);
    return this.#expander;
  }

  async #compute(
    slot: GpuSlot,
    items: readonly PipelineItem[],
    pipeline: Pipeline,
    withMap: boolean,
  ): Promise<BatchResult> {
    const program = await this.#programs.of(pipeline, items, withMap);
    const expander = slot.isLimited && !slot.isUploaded ? await this.#expandingLuma() : undefined;
    let dense: Uint8Array<ArrayBuffer> | undefined;
    const result = await runBatch(this.#device, slot, program, items, {
      channels: pipeline.input.length,
      prepare: expander && ((pass, planes, bytes) => expander.record(pass, planes, bytes)),
      copy: (maps) => {
        dense = this.#memory.copy(maps);
        return dense;
      },
    });
    return { ...result, release: () => dense && this.#memory.giveBack(dense) };
  }

  async #takeSlot(bytes: number): Promise<GpuSlot> {
    if (bytes > this.maxStagingBytes) {
      throw new RangeError(`${bytes} bytes do not fit the device's largest buffer of ${this.maxStagingBytes}`);
    }
    for (;;) {
      if (this.#failure !== undefined) throw new DeviceLostError(this.#failure);
      const fits = this.#free.findIndex((slot) => slot.capacity >= bytes);
      if (fits >= 0) return this.#free.splice(fits, 1)[0]!;
      if (this.#slots.size >= this.batchesInFlight && this.#free.length > 0) this.#discard(this.#free.pop()!);
      if (this.#slots.size < this.batchesInFlight) {
        const slot = new GpuSlot(
          this.#device,
          Math.min(roundUpCapacity(bytes, 2 ** 20), this.maxStagingBytes),
          slotOptions,
        );
        this.#slots.add(slot);
        return slot;
      }
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  #giveBack(slot: GpuSlot): void {
    batchEnded();
    this.#free.push(slot);
    this.#waiting.shift()?.();
  }

  #discard(slot: GpuSlot): void {
    slot.destroy();
    this.#slots.delete(slot);
    this.#waiting.shift()?.();
  }
}

class WebGpuStaging implements Staging {
  readonly slot: GpuSlot;
  readonly bytes: Uint8Array;
  readonly release: () => void;

  constructor(slot: GpuSlot, release: () => void) {
    this.slot = slot;
    this.bytes = slot.mappedBytes();
    this.release = release;
  }
}
