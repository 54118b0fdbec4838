import { describePipeline, type Grid, type Pipeline } from '@halogrid/kernels';
import { isOneCell } from './histogram-shape.ts';

/** The line that stands for a job in its digest: describePipeline's, and ` grid=RxC` where the grid has several cells. */
export function jobLine(pipeline: Pick<Pipeline, 'operations'>, grid: Grid): string {
  const line = describePipeline(pipeline);
  return isOneCell(grid) ? line : `${line} grid=${grid.rows}x${grid.columns}`;
}
