// Runs in a worker thread: writes features.parquet as the FeaturesFile of a job orders, one order at a time.
import { rename } from 'node:fs/promises';
import { type FeatureRow, FeatureWriter } from '@halogrid/results/features';
import { redactUri } from '@halogrid/sources/redact-uri';
import { serveOrders } from '@halogrid/threads';
import { binsOfCell, binsOfSource, type HistogramShape } from '../job/histogram-shape.ts';
import type { FrameOfVideo } from '../job/shard.ts';
import { readHistograms } from '../ledger/read-histograms.ts';
import type { FeaturesOrder, FeaturesTask } from './features-file.ts';

let task: FeaturesTask;
let writer: FeatureWriter;

serveOrders(async (order: FeaturesOrder): Promise<void> => {
  switch (order.kind) {
    case 'open':
      task = order;
      writer = await FeatureWriter.create(task.unfinishedPath, binsOfCell(task.shape));
      break;
    case 'write':
      await write(order);
      break;
    case 'finish':
      await writer.finish();
      await rename(task.unfinishedPath, task.path);
  }
});

async function write({ file, done }: Extract<FeaturesOrder, { kind: 'write' }>): Promise<void> {
  const { shape } = task;
  let source = 0;
  for (const bins of readHistograms(file, done, binsOfSource(shape))) {
    const { uri, video } = done[source++]!;
    for (const row of featureRows({ uri: redactUri(uri), video }, bins, shape)) await writer.add(row);
  }
}

/**
 * The rows of a source in features.parquet: one for each of its cells, row by row, those without pixels too. `bins` is laid
 * out as `shape` says; a row is valid as long as it.
 */
function* featureRows(
  { uri, video }: { uri: string; video?: FrameOfVideo },
  bins: Float64Array,
  shape: HistogramShape,
): Generator<FeatureRow> {
  const { frame, timestampMs } = video ?? { frame: 0, timestampMs: null };
  const { rows, columns } = shape.grid;
  const cellBins = binsOfCell(shape);
  for (let cell = 0; cell < rows * columns; cell++) {
    const histogram = bins.subarray(cell * cellBins, (cell + 1) * cellBins);
    // Every channel counts the same pixels.
    let counted = 0;
    for (let bin = 0; bin < shape.bins; bin++) counted += histogram[bin]!;
    const [cellRow, cellColumn] = [Math.floor(cell / columns), cell % columns];
    yield { source: uri, frame, timestampMs, cellRow, cellColumn, counted, histogram };
  }
}
