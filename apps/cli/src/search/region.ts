import type { PipelineIdentity } from '@halogrid/search';
import { UsageError } from '@halogrid/service';

/** Cells of a grid, from one corner to the other, both included. */
export interface Region {
  firstRow: number;
  firstColumn: number;
  lastRow: number;
  lastColumn: number;
}

/** Parses ROW,COLUMN or ROW,COLUMN-ROW,COLUMN, which count from 0. Throws UsageError. */
export function readRegion(text: string): Region {
  const [, row, column, lastRow = row, lastColumn = column] =
    /^(\d{1,7}),(\d{1,7})(?:-(\d{1,7}),(\d{1,7}))?$/.exec(text) ?? [];
  const region = {
    firstRow: Number(row),
    firstColumn: Number(column),
    lastRow: Number(lastRow),
    lastColumn: Number(lastColumn),
  };
  if (region.firstRow <= region.lastRow && region.firstColumn <= region.lastColumn) return region;
  throw new UsageError(`Expected cells as ROW,COLUMN or ROW,COLUMN-ROW,COLUMN for --region but received '${text}'`);
}

/** The counts of the cells in a region; those of others are 0. Throws UsageError where the grid has no such cells. */
export function countsIn(
  region: Region,
  { grid, channels, bins }: PipelineIdentity,
  counts: Float64Array,
): Float64Array {
  const { firstRow, firstColumn, lastRow, lastColumn } = region;
  if (lastRow >= grid.rows || lastColumn >= grid.columns) {
    throw new UsageError(
      `Expected cells of a grid of ${grid.rows}x${grid.columns} for --region but received ${lastRow},${lastColumn}`,
    );
  }
  const cellBins = channels.length * bins;
  const inside = new Float64Array(counts.length);
  for (let row = firstRow; row <= lastRow; row++) {
    const from = (row * grid.columns + firstColumn) * cellBins;
    const to = (row * grid.columns + lastColumn + 1) * cellBins;
    inside.set(counts.subarray(from, to), from);
  }
  return inside;
}
