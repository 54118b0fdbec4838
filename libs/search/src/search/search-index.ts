import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { sayEnd, ThreadClient } from '@halogrid/threads';
import { distances } from '../distances/distance.ts';
import type { DistanceName } from '../distances/distance-names.ts';
import type { Vector } from '../distances/vector.ts';
import { Best } from '../ranking/best.ts';
import { compareHits, type Hit } from '../ranking/hit.ts';
import { type Finding, thinOut } from '../ranking/thin-out.ts';
import { BlockScanner } from '../scan/block-scanner.ts';
import type { Catalog } from '../store/catalog.ts';
import { IndexError } from '../store/index-error.ts';
import { closeCatalog, openCatalog } from '../store/open-catalog.ts';
import { blocksOf, type Unit } from '../store/read-block.ts';
import { type Filter, type ScanOrder, scanIndex } from './scan-index.ts';
import type { SearchOrder } from './search-worker.ts';

/** What is looked for. */
export interface SearchRequest {
  /** Made by `queryVector` for the same unit. */
  queries: readonly Vector[];
  distance: DistanceName;
  /** Findings for each query, at most. */
  top: number;
  unit: Unit;
  filter?: Filter;
  perSource?: number;
  within?: number;
}

/** An index of fewer bytes is searched on this thread: a thread takes 60 to 100 ms to start (measured), and reads 1 GB/s or more. */
const worthThreads = 2 ** 26;

/** Hits that are asked for beyond those wanted, where some may be folded or left out; and again as many times more. */
const moreHits = 8;

/** An index that is open for searching, on as many threads as there are cores for this process, or on this one. */
export class SearchIndex {
  readonly catalog: Catalog;
  readonly #threadCount: number;
  #threads: ThreadClient<SearchOrder, Hit[][]>[] = [];

  /** Rejects with IndexError where there is no index, or it is damaged. `threads` are as many as are worth it, unless given. */
  static async open(folder: string, threads?: number): Promise<SearchIndex> {
    return new SearchIndex(await openCatalog(folder), threads);
  }

  private constructor(catalog: Catalog, threads: number | undefined) {
    this.catalog = catalog;
    const bytes = blocksOf(catalog).reduce((sum, block) => sum + block.bytes, 0);
    this.#threadCount = threads ?? (bytes < worthThreads ? 0 : availableParallelism());
  }

  /** The best findings of each query, in order. Rejects with IndexError where a query has no pixels, or the index is damaged. */
  async search(request: SearchRequest): Promise<Finding[][]> {
    const { queries, distance, top, unit, filter = {}, perSource, within } = request;
    for (const { mass } of queries) {
      if (mass === 0) throw new IndexError('The query counts no pixel, so there is nothing to compare');
    }
    const isThinned = perSource !== undefined || within !== undefined;
    const options = { perSource, within, sourceOf: this.#sourceOf, runOf: this.#runOf };
    const findings: Finding[][] = [];
    let open = queries.map((_, i) => i);
    for (let wanted = isThinned ? moreHits * top : top; open.length > 0; wanted *= moreHits) {
      const asked = open.map((i) => queries[i]!);
      const hits = await this.#scan({ queries: asked, distance, top: wanted, unit, filter });
      open = open.filter((query, i) => {
        findings[query] = thinOut(hits[i]!, top, options);
        return findings[query].length < top && hits[i]!.length === wanted;
      });
    }
    return findings;
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.end()));
    closeCatalog(this.catalog);
  }

  async #scan(order: Omit<ScanOrder, 'next'>): Promise<Hit[][]> {
    const scan = { ...order, next: new Int32Array(new SharedArrayBuffer(4)) };
    if (this.#threadCount === 0) return scanIndex(this.catalog, new BlockScanner(), scan);
    while (this.#threads.length < this.#threadCount) this.#threads.push(this.#start());
    const parts = await Promise.all(this.#threads.map((thread) => thread.order({ scan })));
    const compare = compareHits(distances[order.distance].sense, this.catalog.placeOf);
    return order.queries.map((_, query) => {
      const best = new Best(order.top, compare);
      for (const part of parts) for (const hit of part[query]!) best.offer(hit);
      return best.sorted();
    });
  }

  #start(): ThreadClient<SearchOrder, Hit[][]> {
    const thread = new ThreadClient<SearchOrder, Hit[][]>(new Worker(new URL('./search-worker.ts', import.meta.url)), {
      ended: (end) => new Error(`A thread of the search ended: ${sayEnd(end)}`),
      unpack: (failure) => new IndexError(String(failure)),
    });
    const { pipeline, segments } = this.catalog;
    thread.order({ index: { pipeline, segments } }).catch(() => {});
    return thread;
  }

  readonly #sourceOf = (row: number): string => this.catalog.placeOf(row).uri;

  /** Frames of a video are a run; images of a job are one, in their order. */
  readonly #runOf = (row: number): string => {
    const { segment, at } = this.catalog.locate(row);
    const { columns } = this.catalog.segments[segment]!;
    return Number.isNaN(columns.timestampMs[at]!) ? this.catalog.jobOf(row).id : this.#sourceOf(row);
  };
}
