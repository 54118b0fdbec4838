import type { Size } from '@halogrid/geometry';
import { cellStart } from '@halogrid/kernels/grid';
import { cellPixels } from '../counts/cell-pixels.ts';
import { binsOfCell, type HistogramShape } from '../counts/histogram-shape.ts';
import type { FoundSource } from './found-shard.ts';

/**
 * What is wrong with the counts of a source, as a clause; undefined where they can be right: in each cell every channel
 * counts the same pixels, at most as many as lie there, and all cells together `counted`.
 */
export function wrongCounts(shape: HistogramShape, { size, counted, bins }: FoundSource): string | undefined {
  const pixels = size.width * size.height;
  if (!(counted <= pixels)) return `counts ${counted} of ${pixels} pixels`;
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

/** Pixels of a cell of an image of that size. */
function pixelsIn({ grid }: HistogramShape, { width, height }: Size, cell: number): number {
  const length = (index: number, count: number, all: number) =>
    cellStart(index + 1, count, all) - cellStart(index, count, all);
  return length(Math.floor(cell / grid.columns), grid.rows, height) * length(cell % grid.columns, grid.columns, width);
}
