import { intersect, type Rect, type Size } from '@halogrid/geometry';
import { ParameterError } from '../kernel/parameter-error.ts';
import type { Pipeline } from './pipeline.ts';

/** A grid over each image; every cell has its own histogram. */
export interface Grid {
  readonly rows: number;
  readonly columns: number;
}

/**
 * The most bins of all cells of an image: 256 MiB of 32-bit counts, which a node and the coordinator hold for one
 * image. A frame of 3840 x 2160 pixels has half as many if LDP counts by blocks of 16 x 16.
 */
export const maxImageBins = 2 ** 26;

/** Throws ParameterError for a grid that is not possible, or that has too many histograms. */
export function checkGrid({ rows, columns }: Grid, { output, bins }: Pick<Pipeline, 'output' | 'bins'>): void {
  const name = `${rows}x${columns}`;
  if (![rows, columns].every((count) => Number.isInteger(count) && count >= 1)) {
    throw new ParameterError('the grid', name, 'whole numbers of rows and columns from 1');
  }
  if (rows * columns > 1 && bins === 0) {
    throw new ParameterError('the grid', name, '1x1, because the results have no histogram,');
  }
  const binsACell = bins * output.channels.length;
  if (rows * columns * binsACell > maxImageBins) {
    const most = Math.floor(maxImageBins / binsACell);
    throw new ParameterError('the grid', name, `at most ${most} cells (of ${binsACell} bins each)`);
  }
}

/** A cell, with its part of a rectangle. */
export interface Cell {
  row: number;
  column: number;
  rect: Rect;
}

/** The first row of grid row `index`, for `length` rows of pixels cut into `count`; columns likewise. An integer. */
export function cellStart(index: number, count: number, length: number): number {
  return Math.floor((index * length) / count);
}

/**
 * The cells that `rect` of an image of size `size` touches, row by row, each with its part of `rect`. Cell r of R holds
 * rows floor(r H / R) up to floor((r + 1) H / R). Cells without pixels are left out.
 */
export function cellsOf(grid: Grid, size: Size, rect: Rect): Cell[] {
  const cells: Cell[] = [];
  for (let row = cellAt(rect.y, grid.rows, size.height); row < grid.rows; row++) {
    const y = cellStart(row, grid.rows, size.height);
    if (y >= rect.y + rect.height) break;
    for (let column = cellAt(rect.x, grid.columns, size.width); column < grid.columns; column++) {
      const x = cellStart(column, grid.columns, size.width);
      if (x >= rect.x + rect.width) break;
      const width = cellStart(column + 1, grid.columns, size.width) - x;
      const height = cellStart(row + 1, grid.rows, size.height) - y;
      const part = intersect({ x, y, width, height }, rect);
      if (part.width > 0 && part.height > 0) cells.push({ row, column, rect: part });
    }
  }
  return cells;
}

/** A cell that begins at or before `at`. Later such cells, if any, are empty. */
function cellAt(at: number, count: number, length: number): number {
  return Math.floor((at * count) / length);
}
