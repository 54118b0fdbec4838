import { distances } from '../distances/distance.ts';
import type { DistanceName } from '../distances/distance-names.ts';
import type { Vector } from '../distances/vector.ts';
import { Best } from '../ranking/best.ts';
import { compareHits, type Hit } from '../ranking/hit.ts';
import type { BlockScanner } from '../scan/block-scanner.ts';
import { scanVectors } from '../scan/scan-vectors.ts';
import type { Catalog } from '../store/catalog.ts';
import type { Unit } from '../store/pipeline-identity.ts';
import { type BlockPlace, lengthOf, massesOf, readBlock } from '../store/read-block.ts';
import { admission, type Filter } from './admission.ts';
import { hitAtOf } from './hit-at.ts';

/** A search that threads share. Messages can carry it. */
export interface ScanOrder {
  queries: readonly Vector[];
  distance: DistanceName;
  /** Hits that are wanted for each query. */
  top: number;
  unit: Unit;
  filter: Filter;
  /** Where to look. */
  blocks: readonly BlockPlace[];
  /** One number in memory that the threads share: the index of the next block. */
  next: Int32Array;
}

/**
 * Takes blocks until none is left, and gives their best hits for each query, in order. Several threads may do so at
 * once: their merged hits are the same, however they share the blocks.
 */
export function scanIndex(catalog: Catalog, scanner: BlockScanner, order: ScanOrder): Hit[][] {
  const { queries, distance, top, unit, filter, blocks, next } = order;
  const compare = compareHits(distances[distance].sense, catalog.placeOf);
  const searches = queries.map((query) => ({ query, best: new Best(top, compare) }));
  for (let i = Atomics.add(next, 0, 1); i < blocks.length; i = Atomics.add(next, 0, 1)) {
    const place = blocks[i]!;
    const admits = admission(catalog, place, filter);
    if (!admits) continue;
    readBlock(catalog, place, scanner.memory(place.bytes));
    const { width } = place;
    const block = { width, length: lengthOf(catalog.pipeline, unit), masses: massesOf(catalog, place, unit) };
    const hitAt = hitAtOf(catalog, place, unit, admits);
    for (const search of searches) scanVectors(scanner, distance, block, search, hitAt);
  }
  return searches.map(({ best }) => best.sorted());
}
