import { bufferUsage, mapMode } from '../kernel/gpu/webgpu-flags.ts';

const { MAP_READ, MAP_WRITE, COPY_SRC, COPY_DST, UNIFORM, STORAGE, QUERY_RESOLVE } = bufferUsage;

/** Timestamps of a batch: before the upload, before and after the kernels, after the readback copy. */
export const timestampCount = 6;
/** Offset in `resolved` of the further timestamps. */
export const moreResolvedAt = 256;

/**
 * Usages of buffers by role; the default is STORAGE. `planesN`: the planes that the n-th kernel of a pipeline writes
 * for the next.
 */
const usages: Record<string, GPUBufferUsageFlags> = {
  planes: STORAGE | COPY_DST,
  table: UNIFORM | COPY_DST,
  excluded: STORAGE | COPY_DST,
  histograms: STORAGE | COPY_SRC | COPY_DST,
  maps: STORAGE | COPY_SRC,
  readback: MAP_READ | COPY_DST,
};

export interface GpuSlotOptions {
  /** Views `bytes` bytes of mapped upload memory. Default: the way of WebGPU. */
  view?: (upload: GPUBuffer, bytes: number) => Uint8Array;
  /** Timestamps beyond the batch's own. */
  moreTimestamps?: number;
}

const viewMapped = (upload: GPUBuffer): Uint8Array => new Uint8Array(upload.getMappedRange());

/**
 * The buffers of one batch in flight, kept for later batches: creating them takes longer than computing a batch of
 * frames. `upload` is mapped while the slot is not computing, so that planes are written straight into it.
 */
export class GpuSlot {
  readonly capacity: number;
  readonly upload: GPUBuffer;
  /** The planes on the device already hold the content of `upload`, or were computed from it. */
  isUploaded = false;
  /** The content of `upload` is luma of the limited range. */
  isLimited = false;
  /** Present if the device measures time. */
  readonly timestamps: { queries: GPUQuerySet; resolved: GPUBuffer } | undefined;
  readonly #device: GPUDevice;
  readonly #view: (upload: GPUBuffer, bytes: number) => Uint8Array;
  #mapped: Uint8Array | undefined;
  #isMapped = true;
  readonly #results = new Map<string, GPUBuffer>();

  constructor(device: GPUDevice, capacity: number, { view = viewMapped, moreTimestamps = 0 }: GpuSlotOptions = {}) {
    this.#device = device;
    this.#view = view;
    this.capacity = capacity;
    this.upload = device.createBuffer({
      label: 'slot.upload',
      size: capacity,
      usage: MAP_WRITE | COPY_SRC,
      mappedAtCreation: true,
    });
    if (device.features.has('timestamp-query')) {
      this.timestamps = {
        queries: device.createQuerySet({
          label: 'slot.timestamps',
          type: 'timestamp',
          count: timestampCount + moreTimestamps,
        }),
        resolved: device.createBuffer({
          label: 'slot.resolved',
          size: moreResolvedAt + 8 * moreTimestamps,
          usage: QUERY_RESOLVE | COPY_SRC,
        }),
      };
    }
  }

  /** The upload memory, valid as long as it is mapped. */
  mappedBytes(): Uint8Array {
    this.#mapped ??= this.#view(this.upload, this.capacity);
    return this.#mapped;
  }

  /** The device's planes, with at least `bytes` bytes and the size of `upload`. */
  planes(bytes: number): GPUBuffer {
    return this.buffer('planes', Math.max(bytes, this.capacity));
  }

  /** Hands the upload memory to the GPU, unless the GPU has it already; `remap` takes it back. */
  unmap(): void {
    if (!this.#isMapped) return;
    this.#isMapped = false;
    this.#mapped = undefined;
    this.upload.unmap();
  }

  async remap(): Promise<void> {
    await this.upload.mapAsync(mapMode.WRITE);
    this.#isMapped = true;
  }

  /** The slot's buffer for a role, of at least `bytes` bytes. Replaced if it is too small. */
  buffer(role: string, bytes: number, usage = usages[role] ?? STORAGE): GPUBuffer {
    const present = this.#results.get(role);
    if (present && present.size >= bytes) return present;
    present?.destroy();
    const made = this.#device.createBuffer({ label: `slot.${role}`, size: roundUpCapacity(bytes, 4096), usage });
    this.#results.set(role, made);
    return made;
  }

  /** Bytes of all its buffers. `upload` is memory of the host. */
  get heldBytes(): number {
    return [...this.#results.values()].reduce((sum, { size }) => sum + size, this.upload.size);
  }

  destroy(): void {
    for (const buffer of [this.upload, ...this.#results.values()]) buffer.destroy();
    this.timestamps?.queries.destroy();
    this.timestamps?.resolved.destroy();
  }
}

/** Rounds sizes up so that a buffer serves many batches: to powers of two up to 8 MiB, then to multiples of 8 MiB. */
export function roundUpCapacity(bytes: number, least: number): number {
  const step = 8 * 2 ** 20;
  if (bytes > step) return Math.ceil(bytes / step) * step;
  return Math.max(least, 2 ** Math.ceil(Math.log2(Math.max(1, bytes))));
}
