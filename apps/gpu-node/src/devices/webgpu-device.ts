import { type Pipeline, type PipelineItem, specifiedOperations } from '@halogrid/kernels';
import {
  type CellSize,
  type ChooseStrategy,
  cellSizeOf,
  createGpuProgram,
  type GpuBatchLayout,
  type GpuHosts,
  type GpuProgram,
} from '@halogrid/kernels/gpu';
import { mapMode } from '@halogrid/kernels/webgpu-flags';
import {
  type BatchResult,
  type Device,
  type DeviceInfo,
  type DeviceJpegs,
  DeviceLostError,
  type DeviceSeconds,
  type Staging,
} from './device.ts';
import { LumaExpander } from './luma-expander.ts';
import { ResultMemory } from './result-memory.ts';
import { batchBegun, batchEnded } from './runtime.ts';
import { tunedChoice } from './tuning-file.ts';
import { openAdapter } from './webgpu-adapter.ts';
import { WebGpuJpegs } from './webgpu-jpegs.ts';
import { roundUpCapacity, timestampCount, WebGpuSlot } from './webgpu-slot.ts';

/** What eight batches of maps of a large image take. */
const idleResultBytes = 2 ** 29;

export interface WebGpuDeviceOptions {
  /** Strategies of kernels, in place of those that were tuned for the adapter. */
  choose?: ChooseStrategy;
  /** How kernels run, in place of the catalogue's. */
  hosts?: GpuHosts;
  /** Takes a line for the log. */
  note?: (line: string) => void;
}

/** Opens the GPU, or SwiftShader. Rejects with one sentence that says why there is none. */
export async function openWebGpuDevice(
  kind: 'gpu' | 'software',
  { choose, hosts, note = () => {} }: WebGpuDeviceOptions = {},
): Promise<Device> {
  const { adapter, info } = await openAdapter(kind);
  const device = await requestDevice(adapter);
  return new WebGpuDevice(device, info, choose ?? (await tunedChoice(info, note)), hosts);
}

/** The device that kernels are compiled for. */
export function requestDevice(adapter: GPUAdapter): Promise<GPUDevice> {
  const { maxBufferSize, maxStorageBufferBindingSize, maxComputeWorkgroupStorageSize } = adapter.limits;
  const { maxComputeInvocationsPerWorkgroup, maxComputeWorkgroupSizeX, maxComputeWorkgroupSizeY } = adapter.limits;
  return adapter.requestDevice({
    label: 'halogrid',
    requiredFeatures: adapter.features.has('timestamp-query') ? ['timestamp-query'] : [],
    // Without being asked for they stay at 256 and 128 MiB, 16 KiB, and 256 lanes, which only benchmarks exceed.
    requiredLimits: {
      maxBufferSize,
      maxStorageBufferBindingSize,
      maxComputeWorkgroupStorageSize,
      maxComputeInvocationsPerWorkgroup,
      maxComputeWorkgroupSizeX,
      maxComputeWorkgroupSizeY,
    },
  });
}

class WebGpuDevice implements Device {
  readonly info: DeviceInfo;
  readonly maxStagingBytes: number;
  /** 31 frames of 1080p. Half of it gave 2 % fewer frames a second on an H200 (measured). */
  readonly batchBytes = 2 ** 26;
  readonly batchesInFlight: number;
  readonly lost: Promise<string>;
  /** SwiftShader takes longer for it than the vectors of those who decode. */
  readonly takesLimited: boolean;
  readonly jpegs: DeviceJpegs;
  readonly #device: GPUDevice;
  readonly #choose: ChooseStrategy;
  readonly #hosts: GpuHosts | undefined;
  readonly #jpegs: WebGpuJpegs;
  readonly #slots = new Set<WebGpuSlot>();
  readonly #free: WebGpuSlot[] = [];
  readonly #waiting: (() => void)[] = [];
  readonly #running = new Set<(reason: DeviceLostError) => void>();
  readonly #memory = new ResultMemory(idleResultBytes);
  readonly #programs = new Map<string, Promise<GpuProgram>>();
  #expander: Promise<LumaExpander> | undefined;
  #failure: string | undefined;

  constructor(device: GPUDevice, info: DeviceInfo, choose: ChooseStrategy, hosts?: GpuHosts) {
    this.#device = device;
    this.#choose = choose;
    this.#hosts = hosts;
    this.info = info;
    this.takesLimited = info.kind === 'gpu';
    // Measured on an H200 with batches of 31 1080p frames: eight reach 0.84 of what decoding alone does, four 0.80. SwiftShader
    // computes on the cores that decode, so more than two only cost memory.
    this.batchesInFlight = info.kind === 'gpu' ? 8 : 2;
    const limit = Math.min(device.limits.maxBufferSize, device.limits.maxStorageBufferBindingSize);
    // Codes take the room of their pixels, and are read back in one buffer with the histograms of up to 1024 items.
    this.maxStagingBytes = Math.floor(limit / 2 ** 20 - 2) * 2 ** 20;
    const decoder = new WebGpuJpegs(device, this.maxStagingBytes);
    this.#jpegs = decoder;
    const { maxBytes, batchBytes } = decoder;
    this.jpegs = {
      ...{ maxBytes, batchBytes },
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
      // An invalid call or a failed allocation poisons what follows, so the device is given up as a whole.
      device.onuncapturederror = ({ error }) => lose(error.message);
    });
  }

  get heldBytes(): number {
    return [...this.#slots].reduce((sum, slot) => sum + slot.heldBytes, this.#jpegs.heldBytes);
  }

  async acquire(bytes: number, isLimited = false): Promise<Staging> {
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

  #program(pipeline: Pipeline, map: boolean, cells: CellSize | undefined): Promise<GpuProgram> {
    const key = JSON.stringify([specifiedOperations(pipeline), pipeline.pixel, pipeline.bins, map, cells]);
    let program = this.#programs.get(key);
    if (!program) {
      program = createGpuProgram(this.#device, pipeline, { map, cells }, this.#choose, this.#hosts);
      this.#programs.set(key, program);
    }
    return program;
  }

  #expandingLuma(): Promise<LumaExpander> {
    this.#expander ??= LumaExpander.create(this.#device);
    return this.#expander;
  }

  async #compute(
    slot: WebGpuSlot,
    items: readonly PipelineItem[],
    pipeline: Pipeline,
    withMap: boolean,
  ): Promise<BatchResult> {
    const device = this.#device;
    const program = await this.#program(pipeline, withMap, cellSizeOf(items));
    const expander = slot.isLimited && !slot.isUploaded ? await this.#expandingLuma() : undefined;
    const layout = program.layOut(items);
    if (layout.dispatches.length === 0) return idleResult(program, layout);
    const { histogramsBytes, mapsBytes } = layout;
    const planesEnd = (item: PipelineItem) => item.offset + item.planeBytes * pipeline.input.length;
    const usedBytes = roundUp4(Math.max(...items.map(planesEnd)));
    const table = slot.buffer('table', layout.tableBytes);
    const histograms = slot.buffer('histograms', histogramsBytes);
    const maps = slot.buffer('maps', mapsBytes);
    // What is there already stays where it is.
    const staged = slot.planes(slot.isUploaded ? 0 : usedBytes);
    const planes = [staged, ...layout.planesBytes.map((bytes, i) => slot.buffer(`planes${i + 1}`, bytes))];
    // [timestamps][histograms][maps]
    const histogramsAt = 8 * timestampCount;
    const mapsAt = histogramsAt + histogramsBytes;
    const readback = slot.buffer('readback', mapsAt + mapsBytes);

    slot.unmap();
    device.queue.writeBuffer(table, 0, layout.table);
    const encoder = device.createCommandEncoder({ label: 'batch' });
    this.#stamp(encoder, slot, 0);
    if (!slot.isUploaded) encoder.copyBufferToBuffer(slot.upload, 0, staged, 0, Math.min(usedBytes, slot.capacity));
    slot.isUploaded = true;
    encoder.clearBuffer(histograms, 0, histogramsBytes);
    const pass = encoder.beginComputePass({ label: 'batch.kernels', timestampWrites: stampsOf(slot, 2) });
    expander?.record(pass, staged, usedBytes);
    program.record(pass, layout, { planes, table, histograms, maps });
    pass.end();
    encoder.copyBufferToBuffer(histograms, 0, readback, histogramsAt, histogramsBytes);
    encoder.copyBufferToBuffer(maps, 0, readback, mapsAt, mapsBytes);
    this.#stamp(encoder, slot, 4);
    if (slot.timestamps) {
      encoder.resolveQuerySet(slot.timestamps.queries, 0, timestampCount, slot.timestamps.resolved, 0);
      encoder.copyBufferToBuffer(slot.timestamps.resolved, 0, readback, 0, 8 * timestampCount);
    }
    const submitted = performance.now();
    device.queue.submit([encoder.finish()]);
    // One look at what the device has done sees both.
    const writable = slot.remap();
    writable.catch(() => {});
    await readback.mapAsync(mapMode.READ, 0, mapsAt + mapsBytes);
    const waited = (performance.now() - submitted) / 1000;

    const mapped = readback.getMappedRange(0, mapsAt + mapsBytes);
    let dense: Uint8Array<ArrayBuffer> | undefined;
    const results = program.unpack(
      layout,
      new Uint32Array(mapped, histogramsAt, histogramsBytes / 4),
      new Uint8Array(mapped, mapsAt, mapsBytes),
      (maps) => {
        dense = this.#memory.copy(maps);
        return dense;
      },
    );
    const seconds = slot.timestamps
      ? secondsOf(new BigUint64Array(mapped, 0, timestampCount))
      : { upload: 0, compute: waited, readback: 0 };
    readback.unmap();
    await writable;
    return { items: results, seconds, release: () => dense && this.#memory.giveBack(dense) };
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
      if (this.#slots.size >= this.batchesInFlight && this.#free.length > 0) this.#discard(this.#free.pop()!);
      if (this.#slots.size < this.batchesInFlight) {
        const slot = new WebGpuSlot(this.#device, Math.min(roundUpCapacity(bytes, 2 ** 20), this.maxStagingBytes));
        this.#slots.add(slot);
        return slot;
      }
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  #giveBack(slot: WebGpuSlot): void {
    batchEnded();
    this.#free.push(slot);
    this.#waiting.shift()?.();
  }

  #discard(slot: WebGpuSlot): void {
    slot.destroy();
    this.#slots.delete(slot);
    this.#waiting.shift()?.();
  }
}

/** The result of a pipeline that neither counts nor leaves anything that is wanted. */
function idleResult(program: GpuProgram, layout: GpuBatchLayout): BatchResult {
  const items = program.unpack(layout, new Uint32Array(0), new Uint8Array(0));
  return { items, seconds: { upload: 0, compute: 0, readback: 0 } };
}

class WebGpuStaging implements Staging {
  readonly slot: WebGpuSlot;
  readonly bytes: Uint8Array;
  readonly release: () => void;

  constructor(slot: WebGpuSlot, release: () => void) {
    this.slot = slot;
    this.bytes = slot.mappedBytes();
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
