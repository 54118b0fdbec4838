import { bufferUsage } from '@halogrid/kernels/webgpu-flags';
import type { JpegBatchLayout, ScratchName } from './batch-layout.ts';
import type { JpegBuffers } from './jpeg-decoder.ts';

const { COPY_SRC, COPY_DST, STORAGE } = bufferUsage;

type Own = ScratchName | 'files' | 'tables';

/** The buffers of one batch in flight besides files and planes, kept for later batches. */
export class JpegScratch {
  readonly #device: GPUDevice;
  readonly #buffers = new Map<Own, GPUBuffer>();
  /** For each buffer of bytes, the buffers of the last batch. */
  readonly #known = new WeakMap<GPUBuffer, JpegBuffers>();
  /** The name of the tables in `tables`; undefined if it has none yet. */
  #tables: string | undefined;

  constructor(device: GPUDevice) {
    this.#device = device;
  }

  /**
   * Buffers for a batch from `bytes` to `planes`, with the content of its layout; `encoder` clears `found`. Throws
   * RangeError for a batch that is too large for the device.
   */
  prepare(
    layout: JpegBatchLayout,
    encoder: GPUCommandEncoder,
    { bytes, planes }: Pick<JpegBuffers, 'bytes' | 'planes'>,
  ): JpegBuffers {
    const own = <Name extends Own>(name: Name, size: number) => this.#buffer(name, size);
    const { scratch } = layout;
    const buffers = this.#same({
      bytes,
      planes,
      files: own('files', layout.files.byteLength),
      tables: own('tables', layout.tables.byteLength),
      words: own('words', scratch.words),
      chunks: own('chunks', scratch.chunks),
      decoded: own('decoded', scratch.decoded),
      groups: own('groups', scratch.groups),
      entries: own('entries', scratch.entries),
      found: own('found', scratch.found),
    });
    this.#device.queue.writeBuffer(buffers.files, 0, layout.files);
    if (this.#tables !== layout.tablesName) {
      this.#device.queue.writeBuffer(buffers.tables, 0, layout.tables);
      this.#tables = layout.tablesName;
    }
    encoder.clearBuffer(buffers.found, 0, scratch.found);
    return buffers;
  }

  /** Bytes of all buffers. */
  get heldBytes(): number {
    return [...this.#buffers.values()].reduce((sum, { size }) => sum + size, 0);
  }

  destroy(): void {
    for (const buffer of this.#buffers.values()) buffer.destroy();
    this.#buffers.clear();
    this.#tables = undefined;
  }

  /** The object with exactly these buffers that was returned before, if any; otherwise these. */
  #same(buffers: JpegBuffers): JpegBuffers {
    const known = this.#known.get(buffers.bytes);
    if (known && (Object.keys(buffers) as (keyof JpegBuffers)[]).every((name) => known[name] === buffers[name])) {
      return known;
    }
    this.#known.set(buffers.bytes, buffers);
    return buffers;
  }

  #buffer(name: Own, size: number): GPUBuffer {
    const present = this.#buffers.get(name);
    if (present && present.size >= size) return present;
    const { maxBufferSize, maxStorageBufferBindingSize } = this.#device.limits;
    const most = Math.min(maxBufferSize, maxStorageBufferBindingSize);
    if (size > most - 16) throw new RangeError(`The batch needs ${size} bytes in one buffer: the device has ${most}`);
    present?.destroy();
    // An eighth more, so that a batch of slightly longer files needs no new buffers. Sizes are multiples of vectors.
    const made = this.#device.createBuffer({
      label: `jpeg.${name}`,
      size: Math.min(16 * Math.ceil((size * 1.125) / 16 + 1), 16 * Math.floor(most / 16)),
      usage: STORAGE | COPY_SRC | COPY_DST,
    });
    this.#buffers.set(name, made);
    if (name === 'tables') this.#tables = undefined;
    return made;
  }
}
