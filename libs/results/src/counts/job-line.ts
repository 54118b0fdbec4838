import { describePipeline, type Grid, type Pipeline } from '@halogrid/kernels';
import { isOneCell } from './histogram-shape.ts';

/** A job's line in its digest: the text of describePipeline, and ` grid=RxC` if the grid has several cells. */
export function jobLine(pipeline: Pick<Pipeline, 'operations' | 'bands'>, grid: Grid): string {
  const line = describePipeline(pipeline);
  return isOneCell(grid) ? line : `${line} grid=${grid.rows}x${grid.columns}`;
}
