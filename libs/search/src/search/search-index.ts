import type { DistanceName } from '../distances/distance-names.ts';
import type { Vector } from '../distances/vector.ts';
import { type Finding, thinOut } from '../ranking/thin-out.ts';
import type { Catalog } from '../store/catalog.ts';
import { IndexError } from '../store/index-error.ts';
import { closeCatalog, openCatalog } from '../store/open-catalog.ts';
import type { Unit } from '../store/pipeline-identity.ts';
import type { Filter } from './admission.ts';
import type { IndexScan, OpenScan } from './index-scan.ts';
import { ThreadScan } from './thread-scan.ts';

/** A request to search an index. */
export interface SearchRequest {
  /** Made by `queryVector` for the same unit. */
  queries: readonly Vector[];
  distance: DistanceName;
  /** The most findings for each query. */
  top: number;
  unit: Unit;
  filter?: Filter;
  perSource?: number;
  within?: number;
}

/**
 * If hits may be folded or left out, this many times as many hits as findings are asked for; if they do not suffice,
 * this many times as many again.
 */
const moreHits = 8;

/** An index that is open for searching. */
export class SearchIndex {
  readonly catalog: Catalog;
  readonly #scan: IndexScan;

  /**
   * Opens an index that is searched on threads: unless given, on as many as are worth it. Rejects with IndexError if
   * there is no index, or it is damaged.
   */
  static open(folder: string, threads?: number): Promise<SearchIndex> {
    return SearchIndex.openWith(folder, async (catalog) => new ThreadScan(catalog, { threads }));
  }

  /** The same with the caller's scan, which the index closes. Also rejects if the scan cannot be opened. */
  static async openWith(folder: string, openScan: OpenScan): Promise<SearchIndex> {
    const catalog = await openCatalog(folder);
    try {
      return new SearchIndex(catalog, await openScan(catalog));
    } catch (error) {
      closeCatalog(catalog);
      throw error;
    }
  }

  private constructor(catalog: Catalog, scan: IndexScan) {
    this.catalog = catalog;
    this.#scan = scan;
  }

  /**
   * The best findings of each query, in order. Rejects with IndexError if a query has no pixels, or the index is
   * damaged.
   */
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
      const hits = await this.#scan.find({ queries: asked, distance, top: wanted, unit, filter });
      open = open.filter((query, i) => {
        findings[query] = thinOut(hits[i]!, top, options);
        return findings[query].length < top && hits[i]!.length === wanted;
      });
    }
    return findings;
  }

  async close(): Promise<void> {
    await this.#scan.close();
    closeCatalog(this.catalog);
  }

  readonly #sourceOf = (row: number): string => this.catalog.placeOf(row).uri;

  /** Frames of a video are a run; images of a job are one, in their order. */
  readonly #runOf = (row: number): string => {
    const { segment, at } = this.catalog.locate(row);
    const { columns } = this.catalog.segments[segment]!;
    return Number.isNaN(columns.timestampMs[at]!) ? this.catalog.jobOf(row).id : this.#sourceOf(row);
  };
}
