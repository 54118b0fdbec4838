import type { Rect } from '@halogrid/geometry';
import type { PipelineIdentity } from '@halogrid/search';
import { UsageError } from '@halogrid/service';

/** Cells of a grid, from one corner to the other, both included. */
export interface CellRegion {
  kind: 'cells';
  firstRow: number;
  firstColumn: number;
  lastRow: number;
  lastColumn: number;
}

/** A part of each query: cells of the index's grid, or pixels. */
export type Region = CellRegion | { kind: 'pixels'; rect: Rect };

/** Parses X,Y,WxH in pixels, or ROW,COLUMN or ROW,COLUMN-ROW,COLUMN, which count from 0. Throws UsageError. */
export function readRegion(text: string): Region {
  const region = readPixels(text) ?? readCells(text);
  if (region) return region;
  throw new UsageError(
    `Expected pixels as X,Y,WxH, or cells as ROW,COLUMN or ROW,COLUMN-ROW,COLUMN, for --region but received '${text}'`,
  );
}

function readPixels(text: string): Region | undefined {
  const numbers = /^(\d{1,9}),(\d{1,9}),(\d{1,9})x(\d{1,9})$/.exec(text)?.slice(1).map(Number);
  if (!numbers) return undefined;
  const [x, y, width, height] = numbers as [number, number, number, number];
  return width > 0 && height > 0 ? { kind: 'pixels', rect: { x, y, width, height } } : undefined;
}

function readCells(text: string): CellRegion | undefined {
  const [, row, column, lastRow = row, lastColumn = column] =
    /^(\d{1,7}),(\d{1,7})(?:-(\d{1,7}),(\d{1,7}))?$/.exec(text) ?? [];
  const region = {
    kind: 'cells' as const,
    firstRow: Number(row),
    firstColumn: Number(column),
    lastRow: Number(lastRow),
    lastColumn: Number(lastColumn),
  };
  return region.firstRow <= region.lastRow && region.firstColumn <= region.lastColumn ? region : undefined;
}

/**
 * The counts of the cells in a region; the counts of other cells are 0. Throws UsageError if the grid does not have
 * these cells.
 */
export function countsInRegion(
  region: CellRegion,
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
