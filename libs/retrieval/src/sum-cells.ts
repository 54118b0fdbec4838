import type { FrameHistograms } from '@halogrid/proto';
import { cellsOfGrid, countsOfCell, readFeatures, readFinishedJob } from '@halogrid/search';
import { allowedPath } from '@halogrid/sources';
import { checkCounts } from './check-counts.ts';

/**
 * The sum of each cell of the grid over all sources of the job whose output is in that folder; `name` is that of its pipeline where
 * it has several. Exact: a count is below 2^53. Rejects with Refusal or IndexError.
 */
export async function sumCells(folder: string, name: string | undefined): Promise<FrameHistograms> {
  const job = await readFinishedJob(folder, name);
  // The folder is one that may be read; a link in it may lead elsewhere.
  await allowedPath(job.features);
  const { grid, channels } = job.pipeline;
  const bins = countsOfCell(job.pipeline);
  const count = cellsOfGrid(job.pipeline);
  checkCounts(count, bins);
  const sums = new Float64Array(count * bins);
  for await (const frame of readFeatures(job)) {
    for (let i = 0; i < sums.length; i++) sums[i]! += frame.bins[i]!;
  }
  const cells = Array.from({ length: count }, (_, i) => ({
    bins: Array.from(sums.subarray(i * bins, (i + 1) * bins)),
  }));
  return { ...grid, channels: [...channels], cells };
}
