import { distances } from '../distances/distance.ts';
import { Best } from '../ranking/best.ts';
import { compareHits, type Hit } from '../ranking/hit.ts';
import { countArrays } from '../scan/count-arrays.ts';
import type { Catalog } from '../store/catalog.ts';
import { blocksOfIndex, lengthOf, massesOf, readBlock } from '../store/read-block.ts';
import { admission } from './admission.ts';
import { hitAtOf } from './hit-at.ts';
import type { IndexScan, Wanted } from './index-scan.ts';

/** Scores every requested vector by the definition and estimates nothing. Every other scan must find the same. */
export class TwinScan implements IndexScan {
  readonly #catalog: Catalog;

  constructor(catalog: Catalog) {
    this.#catalog = catalog;
  }

  async find({ queries, distance, top, unit, filter }: Wanted): Promise<Hit[][]> {
    const catalog = this.#catalog;
    const { sense, score } = distances[distance];
    const length = lengthOf(catalog.pipeline, unit);
    const bests = queries.map(() => new Best<Hit>(top, compareHits(sense, catalog.placeOf)));
    for (const place of blocksOfIndex(catalog)) {
      const admits = admission(catalog, place, filter);
      if (!admits) continue;
      const bytes = new Uint8Array(place.bytes);
      readBlock(catalog, place, bytes);
      const counts = new countArrays[place.width](bytes.buffer);
      const hitAt = hitAtOf(catalog, place, unit, admits);
      for (const [i, mass] of massesOf(catalog, place, unit).entries()) {
        const hit = mass > 0 ? hitAt(i) : undefined;
        if (!hit) continue;
        const vector = { bins: counts.subarray(i * length, (i + 1) * length), mass };
        for (const [j, query] of queries.entries()) bests[j]!.offer({ ...hit, score: score(query, vector) });
      }
    }
    return bests.map((best) => best.sorted());
  }

  async close(): Promise<void> {}
}
