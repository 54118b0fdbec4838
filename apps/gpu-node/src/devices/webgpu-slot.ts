import { addressOf, memoryAt } from '@halogrid/imaging/native-memory';
import { bufferUsage, mapMode } from '@halogrid/kernels/webgpu-flags';

const { MAP_READ, MAP_WRITE, COPY_SRC, COPY_DST, UNIFORM, STORAGE, QUERY_RESOLVE } = bufferUsage;

/** Timestamps of a batch: before the upload, before and after the kernels, after the readback copy. */
export const timestampCount = 6;
/** Those of a batch of JPEGs, behind them: before the upload, before and after decoding. */
export const decodeTimestampCount = 4;
/** Where in `resolved` they go. */
export const decodeResolvedAt = 256;

/**
 * `planesN`: what the n-th kernel of a pipeline leaves for the next. `files`: JPEGs; `found`: what became of them; `colours`: where their
 * colours go.
 */
type Role = 'table' | 'histograms' | 'maps' | 'readback' | 'planes' | `planes${number}` | 'files' | 'found' | 'colours';
const usages: Record<string, GPUBufferUsageFlags> = {
  planes: STORAGE | COPY_DST,
  files: STORAGE | COPY_DST,
  colours: STORAGE | COPY_DST,
  found: MAP_READ | COPY_DST,
  table: UNIFORM | COPY_DST,
  histograms: STORAGE | COPY_SRC | COPY_DST,
  maps: STORAGE | COPY_SRC,
  readback: MAP_READ | COPY_DST,
};

/**
 * The buffers of one batch in flight, kept for the next: creating them costs more than a batch of frames takes.
 * `upload` is mapped while the slot is not computing, so that planes are decoded straight into it.
 */
export class WebGpuSlot {
  readonly capacity: number;
  readonly upload: GPUBuffer;
  /** The planes on the device are what was decoded into `upload`, or of the JPEGs in it. */
  isUploaded = false;
  /** What is decoded into `upload` is luma of the limited range. */
  isLimited = false;
  /** Present where the device measures time. */
  readonly timestamps: { queries: GPUQuerySet; resolved: GPUBuffer } | undefined;
  readonly #device: GPUDevice;
  #mapped: Uint8Array | undefined;
  #isMapped = true;
  readonly #results = new Map<Role, GPUBuffer>();

  constructor(device: GPUDevice, capacity: number) {
    this.#device = device;
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
          count: timestampCount + decodeTimestampCount,
        }),
        resolved: device.createBuffer({
          label: 'slot.resolved',
          size: decodeResolvedAt + 8 * decodeTimestampCount,
          usage: QUERY_RESOLVE | COPY_SRC,
        }),
      };
    }
  }

  /**
   * The upload memory, for as long as it is mapped. V8 takes each range that Dawn gives for as much memory allocated, and
   * collected garbage for a third of the main thread's time at 160 batches of 64 MiB a second (measured); so Dawn is asked for
   * the first bytes alone, and what they begin is viewed once.
   */
  mappedBytes(): Uint8Array {
    this.#mapped ??= memoryAt(addressOf(new Uint8Array(this.upload.getMappedRange(0, 8))), this.capacity);
    return this.#mapped;
  }

  /** The device's planes, of at least `bytes` and of all that `upload` holds. */
  planes(bytes: number): GPUBuffer {
    return this.buffer('planes', Math.max(bytes, this.capacity));
  }

  /** Hands the upload memory to the GPU, if it has not got it; `remap` gets it back. */
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

  /** The slot's buffer for that role, of at least `bytes`; made anew where it is too small. */
  buffer(role: Role, bytes: number): GPUBuffer {
    const present = this.#results.get(role);
    if (present && present.size >= bytes) return present;
    present?.destroy();
    const made = this.#device.createBuffer({
      label: `slot.${role}`,
      size: roundUpCapacity(bytes, 4096),
      usage: usages[role] ?? STORAGE,
    });
    this.#results.set(role, made);
    return made;
  }

  /** Bytes of its buffers, of which `upload` is memory of the host. */
  get heldBytes(): number {
    return [...this.#results.values()].reduce((sum, { size }) => sum + size, this.upload.size);
  }

  destroy(): void {
    for (const buffer of [this.upload, ...this.#results.values()]) buffer.destroy();
    this.timestamps?.queries.destroy();
    this.timestamps?.resolved.destroy();
  }
}

/** Sizes that let a buffer serve many batches: powers of two up to 8 MiB, then multiples of 8 MiB. */
export function roundUpCapacity(bytes: number, least: number): number {
  const step = 8 * 2 ** 20;
  if (bytes > step) return Math.ceil(bytes / step) * step;
  return Math.max(least, 2 ** Math.ceil(Math.log2(Math.max(1, bytes))));
}
