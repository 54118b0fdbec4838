import { Worker } from 'node:worker_threads';
import { sayEnd, ThreadClient } from '@halogrid/threads';
import { coresHere } from '@halogrid/threads/limits';
import type { Hit } from '../ranking/hit.ts';
import { BlockScanner } from '../scan/block-scanner.ts';
import type { Catalog } from '../store/catalog.ts';
import { IndexError } from '../store/index-error.ts';
import { type BlockPlace, blocksOfIndex } from '../store/read-block.ts';
import type { IndexScan, Wanted } from './index-scan.ts';
import { mergeHits } from './merge-hits.ts';
import { scanIndex } from './scan-index.ts';
import type { SearchOrder } from './search-worker.ts';

/**
 * An index with fewer bytes is searched on this thread: a thread takes 60 to 100 ms to start (measured), and reads 1
 * GB/s or more.
 */
const worthThreads = 2 ** 26;

export interface ThreadScanOptions {
  /** Unless given, as many threads as are worth it; 0: only the caller's thread. */
  threads?: number;
  /** The blocks to search; all of the index unless given. */
  blocks?: readonly BlockPlace[];
}

/** Searches with WebAssembly on as many threads as this process has cores, or on the caller's. */
export class ThreadScan implements IndexScan {
  readonly #catalog: Catalog;
  readonly #blocks: readonly BlockPlace[];
  readonly #threadCount: number;
  #threads: ThreadClient<SearchOrder, Hit[][]>[] = [];

  constructor(catalog: Catalog, { threads, blocks = blocksOfIndex(catalog) }: ThreadScanOptions = {}) {
    this.#catalog = catalog;
    this.#blocks = blocks;
    const bytes = blocks.reduce((sum, block) => sum + block.bytes, 0);
    this.#threadCount = threads ?? (bytes < worthThreads ? 0 : coresHere());
  }

  find(wanted: Wanted): Promise<Hit[][]> {
    return this.findIn(this.#blocks, wanted);
  }

  /** Searches only these blocks. Once `signal` aborts, no further block is searched, and the answer is useless. */
  async findIn(blocks: readonly BlockPlace[], wanted: Wanted, signal?: AbortSignal): Promise<Hit[][]> {
    const next = new Int32Array(new SharedArrayBuffer(4));
    signal?.addEventListener('abort', () => Atomics.store(next, 0, blocks.length), { once: true });
    const scan = { ...wanted, blocks, next };
    if (this.#threadCount === 0) return scanIndex(this.#catalog, new BlockScanner(), scan);
    while (this.#threads.length < this.#threadCount) this.#threads.push(this.#start());
    const parts = await Promise.all(this.#threads.map((thread) => thread.order({ scan })));
    return mergeHits(this.#catalog, wanted, parts);
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.end()));
  }

  #start(): ThreadClient<SearchOrder, Hit[][]> {
    const thread = new ThreadClient<SearchOrder, Hit[][]>(new Worker(new URL('./search-worker.ts', import.meta.url)), {
      ended: (end) => new Error(`A thread of the search ended: ${sayEnd(end)}`),
      unpack: (failure) => new IndexError(String(failure)),
    });
    const { pipeline, segments } = this.#catalog;
    thread.order({ index: { pipeline, segments } }).catch(() => {});
    return thread;
  }
}
