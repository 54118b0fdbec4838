import type { Size } from '@halogrid/geometry';
import { cellStart } from '@halogrid/kernels/grid';
import type { SourceBlock } from '@halogrid/sources/source-block';
import { cellPixels } from '../counts/cell-pixels.ts';
import { binsOfCell, type HistogramShape, mostCounts } from '../counts/histogram-shape.ts';
import { type FoundColumns, type FoundSource, type ShardRow, type ShardSummary, shardRows } from './found-shard.ts';

/**
 * The rows of a shard, or a clause that says what is wrong with them: they are impossible, or differ from the expected
 * summary.
 */
export function checkShard(
  shard: FoundColumns,
  block: SourceBlock,
  shapes: readonly HistogramShape[],
  expected: ShardSummary,
): { rows: ShardRow[] } | { wrong: string } {
  const all = shardRows(shard, block, shapes);
  const rows: ShardRow[] = [];
  for (;;) {
    const { done, value } = all.next();
    if (done) {
      const wrong = differenceOf(value, expected);
      return wrong === undefined ? { rows } : { wrong };
    }
    const wrong = value.found && wrongCounts(shapes[value.part]!, value.found);
    if (wrong !== undefined) return { wrong: `has a result of source ${block.index(value.nth)} that ${wrong}` };
    rows.push(value);
  }
}

/**
 * A clause that says why the counts of a source cannot be right; undefined if they can. In each cell, every channel
 * must count the same number of pixels, at most as many as lie there; bands and matrices may differ. All cells together
 * must count `counted` pixels in the first channel.
 */
function wrongCounts(shape: HistogramShape, { size, counted, bins }: FoundSource): string | undefined {
  const pixels = size.width * size.height;
  if (!(counted <= mostCounts(shape, pixels))) return `counts ${counted} of ${pixels} pixels`;
  if (shape.bins === 0) return undefined;
  const cellBins = binsOfCell(shape);
  let sum = 0;
  for (let cell = 0; cell * cellBins < bins.length; cell++) {
    const counts = cellPixels(shape, bins, cell * cellBins, pixelsIn(shape, size, cell));
    if (typeof counts === 'string') return counts;
    sum += counts;
  }
  return sum === counted ? undefined : `counts ${counted} pixels but its bins hold ${sum}`;
}

/** How many pixels lie in a cell of an image. */
function pixelsIn({ grid }: HistogramShape, { width, height }: Size, cell: number): number {
  const length = (index: number, count: number, all: number) =>
    cellStart(index + 1, count, all) - cellStart(index, count, all);
  return length(Math.floor(cell / grid.columns), grid.rows, height) * length(cell % grid.columns, grid.columns, width);
}

/** A clause that says how a summary differs from the expected one; undefined if it does not. */
function differenceOf(summary: ShardSummary, expected: ShardSummary): string | undefined {
  for (const key of ['found', 'pixels'] as const) {
    if (summary[key] !== expected[key]) return `has ${summary[key]} ${key} instead of ${expected[key]}`;
  }
  if (Buffer.compare(summary.digest, expected.digest) !== 0) return 'has results of another digest than was answered';
  for (const [i, { counted, sums }] of summary.parts.entries()) {
    const other = expected.parts[i];
    if (counted !== other?.counted) return `counts ${counted} pixels instead of ${other?.counted}`;
    if (Buffer.compare(sums, other.sums) !== 0) return 'has other sums of counts than were answered';
  }
  return undefined;
}
