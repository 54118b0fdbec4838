import { type GpuMemory, usages } from './gpu-memory.ts';

/** The device's own clock, around one pass; it tells nothing if the device has none. */
export class GpuClock {
  readonly #memory: GpuMemory;
  readonly #queries: GPUQuerySet | undefined;
  readonly #resolved: GPUBuffer | undefined;
  /** Seconds between the start of the first and the end of the last pass that was read. */
  seconds: number | undefined;

  constructor(memory: GpuMemory) {
    this.#memory = memory;
    const { device } = memory;
    if (!device.features.has('timestamp-query')) return;
    this.#queries = device.createQuerySet({ label: 'search.clock', type: 'timestamp', count: 2 });
    this.#resolved = device.createBuffer({ label: 'search.clock', size: 16, usage: usages.timestamps });
  }

  /** Options for the beginning of the pass. */
  get around(): Pick<GPUComputePassDescriptor, 'timestampWrites'> {
    if (!this.#queries) return {};
    return {
      timestampWrites: { querySet: this.#queries, beginningOfPassWriteIndex: 0, endOfPassWriteIndex: 1 },
    };
  }

  /** As `GpuMemory.read`, but also reads the time of the pass. Time stamps may follow the bytes that were asked for. */
  async read(encoder: GPUCommandEncoder, from: GPUBuffer, bytes: number): Promise<ArrayBuffer> {
    if (!this.#queries || !this.#resolved) return await this.#memory.read(encoder, { from, bytes });
    encoder.resolveQuerySet(this.#queries, 0, 2, this.#resolved, 0);
    const contents = await this.#memory.read(encoder, { from, bytes }, { from: this.#resolved, bytes: 16 });
    const [start, end] = new BigUint64Array(contents.slice(bytes, bytes + 16));
    this.seconds = Number(end! - start!) / 1e9;
    return contents;
  }
}
