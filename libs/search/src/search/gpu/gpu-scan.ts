import type { Hit } from '../../ranking/hit.ts';
import { manyQueries } from '../../scan/gpu/nearness-shader.ts';
import type { Catalog } from '../../store/catalog.ts';
import { cellsOfGrid, type Unit } from '../../store/pipeline-identity.ts';
import { type BlockPlace, blocksOfIndex, massesOf } from '../../store/read-block.ts';
import type { IndexScan, Wanted } from '../index-scan.ts';
import { mergeHits } from '../merge-hits.ts';
import { ThreadScan } from '../thread-scan.ts';
import { findOnShelves } from './find-on-shelves.ts';
import { GpuClock } from './gpu-clock.ts';
import { GpuFailure, GpuMemory } from './gpu-memory.ts';
import { GpuPasses } from './gpu-passes.ts';
import { type LoadedShelves, loadShelves } from './load-shelves.ts';
import type { ShelvedIndex } from './score-candidates.ts';
import type { Shelf } from './shelf.ts';

/** The most figures that are read back at once: 64 MiB. */
const mostFigures = 2 ** 24;

/** Takes a line for the log. */
type Note = (line: string) => void;

export interface GpuScanOptions {
  /** Gets a sentence if the device does not search all of the index. */
  note?: Note;
  /** The blocks to search; all of the index unless given. */
  blocks?: readonly BlockPlace[];
  /** Memory of the device that is left for others. */
  spareBytes?: number;
}

/**
 * An index in the memory of a device. The device estimates how near each vector is, with a bound; vectors that the
 * estimates do not rule out are scored by the definition. Threads search blocks that the device cannot hold, and
 * everything once it has failed.
 */
export class GpuScan implements IndexScan {
  readonly memory: GpuMemory;
  readonly #index: ShelvedIndex;
  readonly #blocks: readonly BlockPlace[];
  readonly #note: Note;
  readonly #masses = new Map<Unit, number | undefined>();
  /** Searches what the device does not. */
  #threads: ThreadScan | undefined;
  #hasFailed = false;

  /**
   * Loads the index into the device, which is destroyed when the scan is closed. Rejects with IndexError if the index
   * is damaged, and with GpuFailure if the device fails.
   */
  static async open(catalog: Catalog, device: GPUDevice, options: GpuScanOptions = {}): Promise<GpuScan> {
    const { note = () => {}, blocks = blocksOfIndex(catalog), spareBytes = 0 } = options;
    const memory = new GpuMemory(device);
    try {
      const { shelves, rest } = await loadShelves(memory, catalog, blocks, spareBytes);
      // Threads search counts that only float64 holds in any case.
      const lacking = rest.filter(({ width }) => width !== 8).length;
      if (lacking > 0)
        note(
          `The device has no memory for ${lacking} of the ${blocks.length} blocks of the index: threads search them.`,
        );
      return new GpuScan(catalog, memory, { shelves, rest, blocks }, note);
    } catch (error) {
      memory.close();
      throw error;
    }
  }

  private constructor(
    catalog: Catalog,
    memory: GpuMemory,
    { shelves, rest, blocks }: LoadedShelves & { blocks: readonly BlockPlace[] },
    note: Note,
  ) {
    this.memory = memory;
    this.#blocks = blocks;
    this.#index = { catalog, shelves, passes: new GpuPasses(memory, shelves), clock: new GpuClock(memory) };
    this.#threads = rest.length > 0 ? new ThreadScan(catalog, { blocks: rest }) : undefined;
    this.#note = note;
  }

  get shelves(): readonly Shelf[] {
    return this.#index.shelves;
  }

  /** Seconds that the device took to search everything, for the last queries that it searched at once. */
  get passSeconds(): number | undefined {
    return this.#index.clock.seconds;
  }

  async find(wanted: Wanted): Promise<Hit[][]> {
    if (this.#hasFailed) return await this.#threads!.find(wanted);
    try {
      const parts = [this.#findOnDevice(wanted)];
      if (this.#threads) parts.push(this.#threads.find(wanted));
      return mergeHits(this.#index.catalog, wanted, await Promise.all(parts));
    } catch (error) {
      if (!(error instanceof GpuFailure)) throw error;
      this.#note(`${error.message}. Threads go on with the search.`);
      this.#hasFailed = true;
      await this.#threads?.close();
      this.#threads = new ThreadScan(this.#index.catalog, { blocks: this.#blocks });
      return await this.#threads.find(wanted);
    }
  }

  async close(): Promise<void> {
    this.memory.close();
    await this.#threads?.close();
  }

  async #findOnDevice(wanted: Wanted): Promise<Hit[][]> {
    const { catalog, shelves, passes } = this.#index;
    if (shelves.length === 0) return wanted.queries.map(() => []);
    const cells = wanted.unit === 'cell' ? cellsOfGrid(catalog.pipeline) : 1;
    const atOnce = Math.max(1, Math.min(manyQueries, Math.floor(mostFigures / (cells * passes.bundles))));
    const hits: Hit[][] = [];
    for (let i = 0; i < wanted.queries.length; i += atOnce) {
      const queries = wanted.queries.slice(i, i + atOnce);
      hits.push(...(await findOnShelves(this.#index, { ...wanted, queries }, this.#massOf(wanted.unit))));
    }
    return hits;
  }

  /** The mass of all vectors; finding it takes a look at all of them. */
  #massOf(unit: Unit): number | undefined {
    if (!this.#masses.has(unit)) this.#masses.set(unit, commonMass(this.#index.catalog, unit));
    return this.#masses.get(unit);
  }
}

/** The mass of all vectors with counts; undefined if they differ, or there are none. */
function commonMass(catalog: Catalog, unit: Unit): number | undefined {
  let common = 0;
  for (const place of blocksOfIndex(catalog)) {
    for (const mass of massesOf(catalog, place, unit)) {
      if (mass === 0 || mass === common) continue;
      if (common !== 0) return undefined;
      common = mass;
    }
  }
  return common || undefined;
}
