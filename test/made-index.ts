import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { createPipeline, specifiedOperations } from '@halogrid/kernels';
import { identityOf, type Segment, segmentFrames, segmentName, writeManifest } from '@halogrid/search';
import { resultsVersion } from '@halogrid/service';
import { makeFolders } from '@halogrid/service/make-folders';
import { sayEnd, ThreadClient } from '@halogrid/threads';
import type { MadeSegmentOrder } from './made-segment-worker.ts';

/** The most threads that write. Each has a block in memory, and disks are no faster for more. */
const mostThreads = 12;

/**
 * Writes an index of that many made-up frames of lbp or ldp, without the features of a job, which would take minutes
 * for an index that fills a GPU. All frames count the pixels of a 1080p frame without a border of one pixel.
 */
export async function makeLargeIndex(folder: string, kernel: 'lbp' | 'ldp', frames: number): Promise<void> {
  const pipeline = createPipeline([{ kernel, parameters: {} }]);
  await makeFolders(folder);
  const threads = Array.from(
    { length: Math.min(mostThreads, availableParallelism()) },
    () =>
      new ThreadClient<MadeSegmentOrder, Segment>(new Worker(new URL('./made-segment-worker.ts', import.meta.url)), {
        ended: (end) => new Error(`A thread that makes an index ended: ${sayEnd(end)}`),
      }),
  );
  const channels = pipeline.output.channels.length;
  const orders: MadeSegmentOrder[] = [];
  // Enough parts to keep all threads busy to the end.
  const part = Math.min(segmentFrames, Math.ceil(frames / threads.length));
  for (let first = 0; first < frames; first += part) {
    const name = segmentName(orders.length + 1);
    orders.push({ folder, name, first, frames: Math.min(part, frames - first), channels, bins: pipeline.bins });
  }
  const segments: Segment[] = [];
  const work = async (thread: (typeof threads)[number]): Promise<void> => {
    for (let order = orders.shift(); order; order = orders.shift()) segments.push(await thread.order(order));
  };
  await Promise.all(threads.map(work));
  await Promise.all(threads.map((thread) => thread.end()));
  segments.sort((a, b) => (a.name < b.name ? -1 : 1));
  const identity = identityOf({ pipeline: { operations: specifiedOperations(pipeline) } }, resultsVersion);
  await writeManifest(folder, { pipeline: identity, segments, nextSegment: segments.length + 1 });
}
