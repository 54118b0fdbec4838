import type { Size } from '@halogrid/geometry';
import { cellStart } from '@halogrid/kernels/grid';
import type { HistogramShape } from '../counts/histogram-shape.ts';
import type { FoundSource } from './found-shard.ts';

/**
 * What is wrong with the counts of a source, as what it does; undefined where they can be right: in each cell every channel counts the same
 * pixels, at most as many as lie there, and all cells together `counted`.
 */
export function wrongCounts(shape: HistogramShape, { size, counted, bins }: FoundSource): string | undefined {
  const pixels = size.width * size.height;
  if (!(counted <= pixels)) return `counts ${counted} of ${pixels} pixels`;
  if (shape.bins === 0) return undefined;
  let all = 0;
  for (let cell = 0, from = 0; from < bins.length; cell++) {
    let first = 0;
    for (let channel = 0; channel < shape.channels; channel++) {
      let sum = 0;
      for (const end = from + shape.bins; from < end; from++) sum += bins[from]!;
      if (channel === 0) first = sum;
      else if (sum !== first) return `counts ${first} pixels in channel 0 of a cell but ${sum} in channel ${channel}`;
    }
    const most = pixelsOfCell(shape, size, cell);
    if (first > most) return `counts ${first} pixels in a cell of ${most}`;
    all += first;
  }
  return all === counted ? undefined : `counts ${counted} pixels but its bins hold ${all}`;
}

function pixelsOfCell({ grid }: HistogramShape, { width, height }: Size, cell: number): number {
  const length = (index: number, count: number, all: number) =>
    cellStart(index + 1, count, all) - cellStart(index, count, all);
  return length(Math.floor(cell / grid.columns), grid.rows, height) * length(cell % grid.columns, grid.columns, width);
}
