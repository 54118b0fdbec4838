import { maxPartCounts, maxPartHits, maxPartQueries } from '@halogrid/proto';
import type { Hit } from '../../ranking/hit.ts';
import type { Catalog } from '../../store/catalog.ts';
import { type BlockPlace, blocksOfIndex } from '../../store/read-block.ts';
import type { IndexScan, Wanted } from '../index-scan.ts';
import { mergeHits } from '../merge-hits.ts';
import { ThreadScan } from '../thread-scan.ts';
import { checkPart } from './check-part.ts';
import { cutParts, leastPartBytes, type Part } from './cut-parts.ts';
import { patiently } from './patiently.ts';

/** A node that may search a part of an index. */
export interface PartNode {
  /** The same in every search. */
  readonly id: string;
  /** What it computes on, for metrics. */
  readonly device: string;
  /** Its best hits in the part for each query, in order. Rejects if it cannot search, or is gone. */
  find(part: Part, wanted: Wanted): Promise<Hit[][]>;
}

/** A searched part of an index, for metrics. */
export interface Looked {
  /** The device of the node that searched it, or 'coordinator' for this process. */
  readonly by: string;
  readonly frames: number;
}

export interface SharedScanOptions {
  /** Gives the present nodes. */
  nodes: () => readonly PartNode[];
  /** Called when a node did not answer well, with one sentence that says why. */
  note?: (node: string, why: string) => void;
  /** Called after each part that was searched. */
  looked?: (looked: Looked) => void;
  /**
   * Milliseconds to wait for a node before this process searches its part as well. `expectedMs`: how long the node
   * should take, if that is known.
   */
  patienceMs?: (expectedMs: number | undefined) => number;
  /** The least bytes of a part. */
  leastBytes?: number;
  /** Milliseconds for which a node that did not answer well gets no part. */
  asideMs?: number;
}

/**
 * A part of 5 GB takes some seconds from the cache of a file system. A GPU that has to compile its shaders takes one.
 */
const patience = (expectedMs: number | undefined): number =>
  expectedMs === undefined ? 3_000 : Math.min(10_000, Math.max(500, 4 * expectedMs));

/** After this time, the fault of a node may have been mended. */
const usualAsideMs = 60_000;

/**
 * Searches an index on nodes, each a part of it. This process searches the part of a node that says it cannot, gives an
 * impossible answer, or is too late. Without nodes, it searches like a ThreadScan. The best hits of each part come in
 * the one order of results, so the best of them are the best of all.
 */
export class SharedScan implements IndexScan {
  readonly #catalog: Catalog;
  readonly #options: SharedScanOptions;
  readonly #blocks: readonly BlockPlace[];
  readonly #threads: ThreadScan;
  readonly #rates = new Map<string, number>();
  readonly #asideUntil = new Map<string, number>();
  #parts: Part[] = [];

  constructor(catalog: Catalog, options: SharedScanOptions) {
    this.#catalog = catalog;
    this.#options = options;
    this.#blocks = blocksOfIndex(catalog);
    this.#threads = new ThreadScan(catalog);
  }

  async find(wanted: Wanted): Promise<Hit[][]> {
    const { leastBytes = leastPartBytes } = this.#options;
    const now = performance.now();
    const nodes = this.#options.nodes().filter(({ id }) => !((this.#asideUntil.get(id) ?? 0) > now));
    const sizes = this.#blocks.map(({ bytes }) => bytes);
    const holders = nodes.map(({ id }) => ({ id, rate: this.#rates.get(id) }));
    const parts = fitsMessages(wanted) ? cutParts(sizes, holders, this.#parts, leastBytes) : [];
    if (parts.length === 0) return this.#tell(this.#blocks, await this.#findOurselves(this.#blocks, wanted));
    this.#parts = parts;
    const found = await Promise.all(
      parts.map(async (part) => {
        const blocks = this.#blocks.slice(part.first, part.end);
        const node = nodes.find(({ id }) => id === part.node)!;
        return this.#tell(blocks, await this.#findPart(node, part, blocks, wanted));
      }),
    );
    return mergeHits(this.#catalog, wanted, found);
  }

  async close(): Promise<void> {
    await this.#threads.close();
  }

  async #findPart(node: PartNode, part: Part, blocks: readonly BlockPlace[], wanted: Wanted): Promise<Found> {
    const { patienceMs = patience } = this.#options;
    const bytes = blocks.reduce((sum, block) => sum + block.bytes, 0);
    const rate = this.#rates.get(node.id);
    return await patiently(this.#ask(node, part, blocks, wanted), {
      patienceMs: patienceMs(rate && (1000 * bytes) / rate),
      other: (signal) => this.#findOurselves(blocks, wanted, signal),
      note: (why) => this.#setAside(node, why),
    });
  }

  /** The node's hits in its part. Rejects if they are impossible. */
  async #ask(node: PartNode, part: Part, blocks: readonly BlockPlace[], wanted: Wanted): Promise<Found> {
    const begin = performance.now();
    const hits = await node.find(part, wanted);
    checkPart(this.#catalog, blocks, wanted, hits);
    const bytes = blocks.reduce((sum, block) => sum + block.bytes, 0);
    this.#rates.set(node.id, (1000 * bytes) / Math.max(1, performance.now() - begin));
    this.#asideUntil.delete(node.id);
    return { hits, by: node.device };
  }

  async #findOurselves(blocks: readonly BlockPlace[], wanted: Wanted, signal?: AbortSignal): Promise<Found> {
    return { hits: await this.#threads.findIn(blocks, wanted, signal), by: 'coordinator' };
  }

  #setAside({ id }: PartNode, why: string): void {
    const { note, asideMs = usualAsideMs } = this.#options;
    this.#asideUntil.set(id, performance.now() + asideMs);
    note?.(id, why);
  }

  #tell(blocks: readonly BlockPlace[], { hits, by }: Found): Hit[][] {
    this.#options.looked?.({ by, frames: blocks.reduce((sum, { frames }) => sum + frames, 0) });
    return hits;
  }
}

/** The hits of a part, and what has found them. */
interface Found {
  hits: Hit[][];
  by: string;
}

/** Whether the search fits an order to a node, and its hits fit an answer. */
const fitsMessages = ({ queries, top }: Wanted): boolean =>
  queries.length <= maxPartQueries &&
  queries.reduce((sum, { bins }) => sum + bins.length, 0) <= maxPartCounts &&
  queries.length * top <= maxPartHits;
