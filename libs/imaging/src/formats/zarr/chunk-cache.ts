import type { DecodedChunk } from './chunk-decoder.ts';

/**
 * Keeps decoded chunks that were asked for last: neighbouring tiles share chunks, and so do planes of a chunk that
 * holds several. A caller that asks for a chunk on its way gets the same promise.
 */
export class ChunkCache<Chunk extends { data: { byteLength: number } } = DecodedChunk> {
  readonly #maxBytes: number;
  /** The chunk that was asked for longest ago comes first. */
  readonly #chunks = new Map<string, Chunk>();
  readonly #underWay = new Map<string, Promise<Chunk | undefined>>();
  #bytes = 0;
  #readers = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Bytes that are kept. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * The chunk of a key, which `load` loads if it is not kept. Failures and missing chunks go to all callers that wait,
   * and are not kept.
   */
  get(key: string, load: () => Promise<Chunk | undefined>): Promise<Chunk | undefined> {
    const known = this.#chunks.get(key);
    if (known) {
      this.#chunks.delete(key);
      this.#chunks.set(key, known);
      return Promise.resolve(known);
    }
    const waiting = this.#underWay.get(key);
    if (waiting) return waiting;
    const loading = load()
      .then((chunk) => {
        if (chunk && this.#underWay.get(key) === loading) this.#keep(key, chunk);
        return chunk;
      })
      .finally(() => {
        if (this.#underWay.get(key) === loading) this.#underWay.delete(key);
      });
    this.#underWay.set(key, loading);
    return loading;
  }

  /** Tells of an image that is read. When none is any more, nothing is kept: its files may change. */
  open(): void {
    this.#readers++;
  }

  close(): void {
    if (--this.#readers > 0) return;
    this.#chunks.clear();
    this.#underWay.clear();
    this.#bytes = 0;
  }

  #keep(key: string, chunk: Chunk): void {
    this.#chunks.set(key, chunk);
    this.#bytes += chunk.data.byteLength;
    for (const [oldest, { data }] of this.#chunks) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#chunks.delete(oldest);
      this.#bytes -= data.byteLength;
    }
  }
}
