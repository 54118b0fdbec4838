import { distances } from '../distances/distance.ts';
import type { DistanceName } from '../distances/distance-names.ts';
import type { Vector } from '../distances/vector.ts';
import { Best } from '../ranking/best.ts';
import { compareHits, type Hit } from '../ranking/hit.ts';
import type { BlockScanner } from '../scan/block-scanner.ts';
import { scanVectors } from '../scan/scan-vectors.ts';
import type { Catalog } from '../store/catalog.ts';
import { cellsOf } from '../store/pipeline-identity.ts';
import { type BlockPlace, blocksOf, lengthOf, massesOf, readBlock, type Unit } from '../store/read-block.ts';
import { noText, textAt } from '../store/row-columns.ts';

/** Which frames are asked for. A frame of which the time or the camera is not known is not among those of one. */
export interface Filter {
  /** The first and the last moment, in milliseconds since 1970. */
  sinceMs?: number;
  untilMs?: number;
  camera?: string;
}

/** What threads find out together. Messages can carry it. */
export interface ScanOrder {
  queries: readonly Vector[];
  distance: DistanceName;
  /** Hits that are wanted for each query. */
  top: number;
  unit: Unit;
  filter: Filter;
  /** One number, in memory that the threads share: the block that is next. */
  next: Int32Array;
}

/**
 * Takes blocks of the index until none is left, and gives the best hits of those for each query, in order. Several threads may do
 * so at once: what they give, merged, is the same however they share.
 */
export function scanIndex(catalog: Catalog, scanner: BlockScanner, order: ScanOrder): Hit[][] {
  const { queries, distance, top, unit, filter, next } = order;
  const compare = compareHits(distances[distance].sense, catalog.placeOf);
  const searches = queries.map((query) => ({ query, best: new Best(top, compare) }));
  const blocks = blocksOf(catalog);
  const cells = unit === 'cell' ? cellsOf(catalog.pipeline) : 1;
  for (let i = Atomics.add(next, 0, 1); i < blocks.length; i = Atomics.add(next, 0, 1)) {
    const place = blocks[i]!;
    const admits = admission(catalog, place, filter);
    if (!admits) continue;
    readBlock(catalog, place, scanner.memory(place.bytes));
    const { width } = place;
    const block = { width, length: lengthOf(catalog.pipeline, unit), masses: massesOf(catalog, place, unit) };
    const first = catalog.starts[place.segment]! + place.from;
    const hitAt = (vector: number): Pick<Hit, 'row' | 'cell'> | undefined => {
      const frame = Math.floor(vector / cells);
      return admits(frame) ? { row: first + frame, cell: vector % cells } : undefined;
    };
    for (const search of searches) scanVectors(scanner, distance, block, search, hitAt);
  }
  return searches.map(({ best }) => best.sorted());
}

/** Says of the frames of a block, by their number in it, which are asked for; undefined where none is. */
function admission(
  catalog: Catalog,
  { segment, from, frames }: BlockPlace,
  filter: Filter,
): ((frame: number) => boolean) | undefined {
  const { sinceMs, untilMs, camera } = filter;
  if (sinceMs === undefined && untilMs === undefined && camera === undefined) return () => true;
  const { columns } = catalog.segments[segment]!;
  const isAsked = new Uint8Array(frames);
  let any = false;
  for (let i = 0; i < frames; i++) {
    const time = columns.capturedAtMs[from + i]!;
    const text = columns.camera[from + i]!;
    const isTime = (sinceMs === undefined || time >= sinceMs) && (untilMs === undefined || time <= untilMs);
    if (!isTime || (camera !== undefined && (text === noText || textAt(columns, text) !== camera))) continue;
    isAsked[i] = 1;
    any = true;
  }
  return any ? (frame) => isAsked[frame] === 1 : undefined;
}
