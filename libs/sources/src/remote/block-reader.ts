import { randomUUID } from 'node:crypto';
import type { RemoteFile } from './remote-file.ts';

/** The bytes of a block: few enough that little is fetched in vain at both ends of a segment of a video. */
export const blockBytes = 2 ** 18;

/** The most blocks that are fetched ahead for a reader: as many as there are connections to a host. */
const maxAhead = 16;

/**
 * Keeps the blocks of files that were asked for last. A caller that asks for a block on its way gets the same promise.
 */
export class BlockCache {
  readonly #maxBlocks: number;
  /** The block that was asked for longest ago comes first. */
  readonly #blocks = new Map<string, Promise<Uint8Array>>();

  constructor(maxBlocks: number) {
    this.#maxBlocks = maxBlocks;
  }

  /**
   * The block of a key, which `load` fetches if it is not kept. A failure goes to all callers that wait for it, and is
   * not kept.
   */
  get(key: string, load: () => Promise<Uint8Array>): Promise<Uint8Array> {
    const known = this.#blocks.get(key);
    const block = known ?? load();
    if (known) this.#blocks.delete(key);
    else {
      block.catch(() => {
        if (this.#blocks.get(key) === block) this.#blocks.delete(key);
      });
    }
    this.#blocks.set(key, block);
    if (this.#blocks.size > this.#maxBlocks) this.#blocks.delete(this.#blocks.keys().next().value!);
    return block;
  }

  has(key: string): boolean {
    return this.#blocks.has(key);
  }

  clear(): void {
    this.#blocks.clear();
  }
}

/**
 * Shared by all readers of this process: 64 MiB, so that a block that was fetched ahead is still there when it is asked
 * for.
 */
const cache = new BlockCache(256);

let readers = 0;

/**
 * Reads a file on a server piece by piece, in any order, in bounded memory. The file comes in blocks, which are shared
 * by all readers of the same version: all segments of a video need its index, and neighbours the same block. If a
 * reader goes on in order, the next blocks are fetched ahead: the longer it has gone on, the more.
 */
export class BlockReader {
  readonly #file: RemoteFile;
  /** Random if the server does not tell versions: the file may be another one the next time. */
  readonly #key: string;
  readonly #pending = new Set<Promise<Uint8Array>>();
  #last = -1;
  #inRow = 0;
  #isOpen = true;

  /** Takes `file` over. */
  constructor(file: RemoteFile) {
    this.#file = file;
    this.#key = file.hasSureVersion ? `${file.uri} ${file.version}` : randomUUID();
    readers++;
  }

  /** Reads at least one byte and at most `length` from byte `position` on; none at the end. Rejects with InputError. */
  async read(position: number, length: number): Promise<Uint8Array> {
    if (position >= this.#file.sizeBytes) return new Uint8Array(0);
    const index = Math.floor(position / blockBytes);
    if (index === this.#last + 1) this.#inRow++;
    else if (index !== this.#last) this.#inRow = 0;
    this.#last = index;
    const block = this.#block(index);
    const ahead = Math.min(maxAhead, this.#inRow >> 1);
    for (let next = index + 1; next <= index + ahead && next * blockBytes < this.#file.sizeBytes; next++) {
      // A failure is met again when the block is asked for.
      this.#block(next).catch(() => {});
    }
    const start = position - index * blockBytes;
    return (await block).subarray(start, start + length);
  }

  /**
   * As `read`, if nothing near these bytes will be read: only they are fetched, unless the block is there or on its
   * way.
   */
  async readAlone(position: number, length: number): Promise<Uint8Array> {
    const left = Math.max(0, this.#file.sizeBytes - position);
    if (left === 0 || cache.has(this.#nameOf(Math.floor(position / blockBytes))))
      return await this.read(position, length);
    const bytes = new Uint8Array(Math.min(left, length));
    await this.#file.read(bytes, position);
    return bytes;
  }

  /** May be called again. What is on its way is not waited for. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    if (--readers === 0) cache.clear();
    void Promise.allSettled(this.#pending).then(() => this.#file.close());
  }

  #block(index: number): Promise<Uint8Array> {
    return cache.get(this.#nameOf(index), () => {
      const loading = this.#load(index);
      this.#pending.add(loading);
      const settled = () => this.#pending.delete(loading);
      loading.then(settled, settled);
      return loading;
    });
  }

  #nameOf(index: number): string {
    return `${this.#key} ${index}`;
  }

  async #load(index: number): Promise<Uint8Array> {
    const start = index * blockBytes;
    const bytes = new Uint8Array(Math.min(blockBytes, this.#file.sizeBytes - start));
    await this.#file.read(bytes, start);
    return bytes;
  }
}
