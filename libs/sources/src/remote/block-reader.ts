import { randomUUID } from 'node:crypto';
import type { RemoteFile } from './remote-file.ts';

/** Few enough that little is fetched in vain where a segment of a video begins and ends. */
export const blockBytes = 2 ** 18;

/** Blocks on their way to one reader at most: as many as there are connections to a host. */
const maxAhead = 16;

/**
 * Parts of files, those that were asked for last, so many at most. Whoever asks for one that is on its way gets the
 * same.
 */
export class BlockCache {
  readonly #maxBlocks: number;
  /** The one that was asked for longest ago comes first. */
  readonly #blocks = new Map<string, Promise<Uint8Array>>();

  constructor(maxBlocks: number) {
    this.#maxBlocks = maxBlocks;
  }

  /** What `load` gives for the key. A failure is told to those who wait for it, and not kept. */
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

/** Shared by all readers of this process: 64 MiB, so that what one fetches ahead is still there when it comes to it. */
const cache = new BlockCache(256);

let readers = 0;

/**
 * Reads a file on a server piece by piece, in any order, in bounded memory however long it is. It comes in blocks,
 * which are shared by all that read the same version of it at the same time: segments of a video all need its index,
 * and neighbours the same block. Who reads on and on finds the next blocks fetched, the more the longer it has gone on.
 */
export class BlockReader {
  readonly #file: RemoteFile;
  /** What a server does not tell versions of may be another file the next time that it is opened. */
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

  /** One byte at least and `length` at most from byte `position` on; none at the end. Rejects with InputError. */
  async read(position: number, length: number): Promise<Uint8Array> {
    if (position >= this.#file.sizeBytes) return new Uint8Array(0);
    const index = Math.floor(position / blockBytes);
    if (index === this.#last + 1) this.#inRow++;
    else if (index !== this.#last) this.#inRow = 0;
    this.#last = index;
    const block = this.#block(index);
    const ahead = Math.min(maxAhead, this.#inRow >> 1);
    for (let next = index + 1; next <= index + ahead && next * blockBytes < this.#file.sizeBytes; next++) {
      // Heard of when it is asked for.
      this.#block(next).catch(() => {});
    }
    const start = position - index * blockBytes;
    return (await block).subarray(start, start + length);
  }

  /**
   * As `read`, where nothing near these bytes will be wanted: no more than them is fetched, unless the block is there
   * or on its way.
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
