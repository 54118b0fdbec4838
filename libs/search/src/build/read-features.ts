import { Worker } from 'node:worker_threads';
import { type FeatureColumns, FeatureReader } from '@halogrid/results/feature-reader';
import { evenChannels, histogramShape } from '@halogrid/results/histogram-shape';
import { PlaceError } from '@halogrid/results/place';
import { mapAhead, sayEnd, ThreadClient } from '@halogrid/threads';
import { coresHere } from '@halogrid/threads/limits';
import { IndexError } from '../store/index-error.ts';
import { cellsOfGrid, countsOfCell, pipelineOf } from '../store/pipeline-identity.ts';
import type { IndexFrame } from '../store/segment-writer.ts';
import { checkedColumns } from './checked-columns.ts';
import type { FeaturesFailure, FeaturesOrder } from './features-worker.ts';
import type { FinishedJob } from './finished-job.ts';

/**
 * Below this number of row groups they are decoded on this thread: another thread takes 100 ms to start, and a row
 * group takes 15 ms (measured).
 */
const worthThreads = 16;

/** Advice for a damaged file: both ways give the same histograms again. */
const remedy = 'copy the folder again from where the job wrote it, or run the job again with --fresh';

/**
 * The frames of a job, in the order of its features.parquet; each is valid until the next is asked for. Rejects with
 * IndexError if the file is not what a job with that pipeline writes, and with PlaceError if a bucket cannot be read.
 */
export async function* readFeatures(job: FinishedJob): AsyncGenerator<IndexFrame> {
  const damaged = (why: string, cause?: unknown): IndexError =>
    new IndexError(`'${job.features}' cannot be indexed, because ${why}: ${remedy}`, { cause });
  const [cells, cellBins] = [cellsOfGrid(job.pipeline), countsOfCell(job.pipeline)];
  const bins = new Float64Array(cells * cellBins);
  /** Cells of the next frame that have come; the rows of one may be of two row groups or more. */
  let cell = 0;
  for await (const rows of rowGroupsOf(job, damaged)) {
    const { source, camera, cellRow, cellColumn, histogram } = rows;
    for (let row = 0; row < cellRow.length; ) {
      const more = Math.min(cells - cell, cellRow.length - row);
      for (let i = 0; i < more; i++) {
        if (cellRow[row + i]! * job.pipeline.grid.columns + cellColumn[row + i]! === cell + i) continue;
        const uri = source.texts[source.numbers[row + i]!];
        throw damaged(`cells of frame ${rows.frame[row + i]} of '${uri}' are missing or in another order`);
      }
      bins.set(histogram.subarray(row * cellBins, (row + more) * cellBins), cell * cellBins);
      row += more;
      cell = (cell + more) % cells;
      if (cell > 0) continue;
      const last = row - 1;
      yield {
        uri: source.texts[source.numbers[last]!]!,
        frame: rows.frame[last]!,
        timestampMs: rows.timestampMs[last]!,
        capturedAtMs: rows.capturedAtMs[last]!,
        camera: camera.texts[camera.numbers[last]!]!,
        bins,
      };
    }
  }
  if (cell > 0) throw damaged('its last frame lacks cells');
}

async function* rowGroupsOf(
  { features, pipeline }: FinishedJob,
  damaged: (why: string, cause?: unknown) => IndexError,
): AsyncGenerator<FeatureColumns> {
  const reader = await FeatureReader.open(features).catch((cause) => {
    if (cause instanceof PlaceError) throw cause;
    throw damaged(`it is cut, damaged or no Parquet${whyOf(cause)}`, cause);
  });
  if (!reader) throw damaged('it is not there');
  const missing = reader.missingColumns;
  if (missing.length > 0) {
    throw damaged(`it lacks ${missing.join(', ')}: another version of halogrid or another program wrote it`);
  }
  const count = reader.rowGroups < worthThreads ? 0 : coresHere();
  const threads = Array.from({ length: count }, startThread);
  const ofCell = histogramShape(pipelineOf(pipeline), pipeline.grid);
  const shape = { bins: countsOfCell(pipeline), channels: ofCell.channels, evenChannels: evenChannels(ofCell) };
  const read = (rowGroup: number): Promise<FeatureColumns> =>
    threads[rowGroup % count]?.order({ path: features, rowGroup, ...shape }) ??
    checkedColumns(reader, { rowGroup, ...shape });
  try {
    yield* mapAhead(Array(reader.rowGroups).keys(), Math.max(1, 2 * count), read);
  } catch (cause) {
    throw cause instanceof IndexError || cause instanceof PlaceError
      ? cause
      : damaged(`it is damaged${whyOf(cause)}`, cause);
  } finally {
    await Promise.all(threads.map((thread) => thread.end()));
  }
}

/** The message of the decoder, unless the error is a fault of the decoder. */
const whyOf = (cause: unknown): string =>
  cause instanceof TypeError || cause instanceof RangeError ? '' : ` (${(cause as Error).message})`;

function startThread(): ThreadClient<FeaturesOrder, FeatureColumns> {
  const worker = new Worker(new URL('./features-worker.ts', import.meta.url));
  return new ThreadClient(worker, {
    ended: (end) => new Error(`its thread ended: ${sayEnd(end)}`),
    unpack: (failure) => {
      const { message, isOfPlace } = failure as FeaturesFailure;
      return isOfPlace ? new PlaceError(message) : new Error(message);
    },
  });
}
