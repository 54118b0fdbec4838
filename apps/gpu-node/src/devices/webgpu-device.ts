import type { Pipeline, PlaneItem } from '@halogrid/kernels';
import {
  createGpuProgram,
  type GpuProgram,
  itemTableBytes,
  maxItems,
  packItems,
  placeMaps,
  unpackResults,
} from '@halogrid/kernels/gpu';
import {
  type BatchResult,
  type Device,
  type DeviceInfo,
  DeviceLostError,
  type DeviceSeconds,
  type Staging,
} from './device.ts';
import { openAdapter } from './webgpu-adapter.ts';
import { roundUpCapacity, timestampCount, WebGpuSlot } from './webgpu-slot.ts';

/** GPUMapMode, whose global exists only after Dawn is loaded. */
const MAP_MODE_READ = 1;

/** Opens the GPU, or SwiftShader. Rejects with one sentence that says why there is none. */
export async function openWebGpuDevice(kind: 'gpu' | 'software'): Promise<Device> {
  const { adapter, info } = await openAdapter(kind);
  const { maxBufferSize, maxStorageBufferBindingSize } = adapter.limits;
  const device = await adapter.requestDevice({
    label: 'halogrid',
    requiredFeatures: adapter.features.has('timestamp-query') ? ['timestamp-query'] : [],
    // Without being asked for they stay at 256 and 128 MiB.
    requiredLimits: { maxBufferSize, maxStorageBufferBindingSize },
  });
  return new WebGpuDevice(device, info);
}

class WebGpuDevice implements Device {
  readonly info: DeviceInfo;
  readonly maxStagingBytes: number;
  readonly batchesInFlight: number;
  readonly lost: Promise<string>;
  readonly #device: GPUDevice;
  readonly #free: WebGpuSlot[] = [];
  readonly #waiting: (() => void)[] = [];
  readonly #running = new Set<(reason: DeviceLostError) => void>();
  readonly #programs = new Map<string, Promise<GpuProgram>>();
  #slots = 0;
  #failure: string | undefined;

  constructor(device: GPUDevice, info: DeviceInfo) {
    this.#device = device;
    this.info = info;
    // Measured on an H200 with batches of 31 1080p frames: eight reach 0.84 of what decoding alone does, four 0.80. SwiftShader
    // computes on the cores that decode, so more than two only cost memory.
    this.batchesInFlight = info.kind === 'gpu' ? 8 : 2;
    const limit = Math.min(device.limits.maxBufferSize, device.limits.maxStorageBufferBindingSize);
    // Codes take the room of their pixels, and are read back in one buffer with the histograms of up to 1024 items.
    this.maxStagingBytes = Math.floor(limit / 2 ** 20 - 2) * 2 ** 20;
    this.lost = new Promise((resolve) => {
      const lose = (reason: string) => {
        if (this.#failure !== undefined) return;
        this.#fail(reason);
        resolve(reason);
      };
      void device.lost.then(({ reason, message }) => {
        if (reason !== 'destroyed') lose(message);
      });
      // An invalid call or a failed allocation poisons what follows, so the device is given up as a whole.
      device.onuncapturederror = ({ error }) => lose(error.message);
    });
  }

  async acquire(bytes: number): Promise<Staging> {
    const slot = await this.#takeSlot(bytes);
    return new WebGpuStaging(slot, () => this.#giveBack(slot));
  }

  async run(staging: Staging, items: readonly PlaneItem[], pipeline: Pipeline, withMap: boolean): Promise<BatchResult> {
    const { slot } = staging as WebGpuStaging;
    try {
      const result = await this.#orLost(this.#compute(slot, items, pipeline, withMap));
      this.#giveBack(slot);
      return result;
    } catch (error) {
      this.#discard(slot);
      throw this.#failure === undefined ? error : new DeviceLostError(this.#failure);
    }
  }

  async close(): Promise<void> {
    this.#fail('it was closed');
    this.#device.destroy();
  }

  /** Nothing is computed from now on; whoever waits is told so. */
  #fail(reason: string): void {
    this.#failure ??= reason;
    for (const wake of this.#waiting.splice(0)) wake();
    for (const reject of this.#running) reject(new DeviceLostError(reason));
  }

  /** Promises of a device that is gone may stay open for ever (seen with Dawn), so every wait ends with the device. */
  #orLost<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#running.add(reject);
      work.then(resolve, reject).finally(() => this.#running.delete(reject));
    });
  }

  #program(pipeline: Pipeline, withMap: boolean): Promise<GpuProgram> {
    const key = JSON.stringify([pipeline.operations, pipeline.border, withMap]);
    let program = this.#programs.get(key);
    if (!program) {
      program = createGpuProgram(this.#device, pipeline, withMap ? 'both' : 'histogram');
      this.#programs.set(key, program);
    }
    return program;
  }

  async #compute(
    slot: WebGpuSlot,
    items: readonly PlaneItem[],
    pipeline: Pipeline,
    withMap: boolean,
  ): Promise<BatchResult> {
    if (items.length > maxItems) {
      throw new RangeError(`Expected at most ${maxItems} items but received ${items.length}`);
    }
    const device = this.#device;
    const program = await this.#program(pipeline, withMap);
    const usedBytes = Math.max(...items.map((i) => roundUp4(i.offset + i.stride * i.stored.height)));
    const { places, bytes: mapBytes } = placeMaps(items);
    const histogramBytes = program.histogramBytes * items.length;
    const table = slot.buffer('items', itemTableBytes);
    const histograms = slot.buffer('histograms', histogramBytes);
    const maps = slot.buffer('maps', withMap ? mapBytes : 16);
    // [timestamps][histograms][maps]
    const histogramsAt = 8 * timestampCount;
    const mapsAt = histogramsAt + histogramBytes;
    const readback = slot.buffer('readback', mapsAt + (withMap ? mapBytes : 0));

    slot.unmap();
    device.queue.writeBuffer(table, 0, packItems(items, places));
    const encoder = device.createCommandEncoder({ label: 'batch' });
    this.#stamp(encoder, slot, 0);
    encoder.copyBufferToBuffer(slot.upload, 0, slot.planes, 0, Math.min(usedBytes, slot.capacity));
    encoder.clearBuffer(histograms, 0, histogramBytes);
    const pass = encoder.beginComputePass({ label: 'batch.kernels', timestampWrites: stampsOf(slot, 2) });
    program.record(pass, { planes: slot.planes, items: table, histograms, maps }, items);
    pass.end();
    encoder.copyBufferToBuffer(histograms, 0, readback, histogramsAt, histogramBytes);
    if (withMap) encoder.copyBufferToBuffer(maps, 0, readback, mapsAt, mapBytes);
    this.#stamp(encoder, slot, 4);
    if (slot.timestamps) {
      encoder.resolveQuerySet(slot.timestamps.queries, 0, timestampCount, slot.timestamps.resolved, 0);
      encoder.copyBufferToBuffer(slot.timestamps.resolved, 0, readback, 0, 8 * timestampCount);
    }
    const submitted = performance.now();
    device.queue.submit([encoder.finish()]);
    await readback.mapAsync(MAP_MODE_READ);
    const waited = (performance.now() - submitted) / 1000;

    const mapped = readback.getMappedRange();
    const result = {
      items: unpackResults(
        items,
        places,
        new Uint32Array(mapped, histogramsAt, histogramBytes / 4),
        withMap ? new Uint8Array(mapped, mapsAt, mapBytes) : undefined,
      ),
      seconds: slot.timestamps
        ? secondsOf(new BigUint64Array(mapped, 0, timestampCount))
        : { upload: 0, compute: waited, readback: 0 },
    };
    readback.unmap();
    await slot.remap();
    return result;
  }

  /** An empty pass, because only passes carry timestamps. */
  #stamp(encoder: GPUCommandEncoder, slot: WebGpuSlot, first: number): void {
    if (!slot.timestamps) return;
    encoder.beginComputePass({ label: 'batch.stamp', timestampWrites: stampsOf(slot, first) }).end();
  }

  async #takeSlot(bytes: number): Promise<WebGpuSlot> {
    if (bytes > this.maxStagingBytes) {
      throw new RangeError(`${bytes} bytes do not fit the device's largest buffer of ${this.maxStagingBytes}`);
    }
    for (;;) {
      if (this.#failure !== undefined) throw new DeviceLostError(this.#failure);
      const fits = this.#free.findIndex((slot) => slot.capacity >= bytes);
      if (fits >= 0) return this.#free.splice(fits, 1)[0]!;
      if (this.#slots >= this.batchesInFlight && this.#free.length > 0) this.#discard(this.#free.pop()!);
      if (this.#slots < this.batchesInFlight) {
        this.#slots++;
        return new WebGpuSlot(this.#device, Math.min(roundUpCapacity(bytes, 2 ** 20), this.maxStagingBytes));
      }
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  #giveBack(slot: WebGpuSlot): void {
    this.#free.push(slot);
    this.#waiting.shift()?.();
  }

  #discard(slot: WebGpuSlot): void {
    slot.destroy();
    this.#slots--;
    this.#waiting.shift()?.();
  }
}

class WebGpuStaging implements Staging {
  readonly slot: WebGpuSlot;
  readonly bytes: Uint8Array;
  readonly release: () => void;

  constructor(slot: WebGpuSlot, release: () => void) {
    this.slot = slot;
    this.bytes = new Uint8Array(slot.mappedRange());
    this.release = release;
  }
}

function stampsOf(slot: WebGpuSlot, first: number): GPUComputePassTimestampWrites | undefined {
  if (!slot.timestamps) return undefined;
  return {
    querySet: slot.timestamps.queries,
    beginningOfPassWriteIndex: first,
    endOfPassWriteIndex: first + 1,
  };
}

/** Stages by the GPU's own clock, in nanoseconds: from the end of one pass to the start of the next are the copies. */
function secondsOf(stamps: BigUint64Array): DeviceSeconds {
  const between = (from: number, to: number) => Math.max(0, Number(stamps[to]! - stamps[from]!)) / 1e9;
  return { upload: between(1, 2), compute: between(2, 3), readback: between(3, 4) };
}

const roundUp4 = (bytes: number): number => Math.ceil(bytes / 4) * 4;
