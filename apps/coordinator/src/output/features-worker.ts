// Runs in a worker thread: writes features.parquet as the FeaturesFile of a job orders, one order at a time.
import { rename } from 'node:fs/promises';
import { type FeatureRow, FeatureWriter } from '@halogrid/results/features';
import { type Capture, CaptureRule } from '@halogrid/sources/captured';
import { redactUri } from '@halogrid/sources/redact-uri';
import { serveOrders } from '@halogrid/threads';
import { binsOfCell, binsOfSource, type HistogramShape } from '../job/histogram-shape.ts';
import type { FrameOfVideo } from '../job/shard.ts';
import { readHistograms } from '../ledger/read-histograms.ts';
import type { FeaturesOrder, FeaturesTask } from './features-file.ts';
import { OutputNames } from './output-names.ts';

/** Counts in memory at once, of one source. */
const binsAtOnce = 2 ** 18;

let task: FeaturesTask;
let rule: CaptureRule;
let outputNames: OutputNames;
let writer: FeatureWriter;

serveOrders(async (order: FeaturesOrder): Promise<void> => {
  switch (order.kind) {
    case 'open':
      task = order;
      rule = new CaptureRule(task.captured);
      outputNames = new OutputNames();
      writer = await FeatureWriter.create(task.unfinishedPath, binsOfCell(task.shape));
      break;
    case 'write':
      await write(order);
      break;
    case 'finish':
      await writer.finish({ halogrid: JSON.stringify(order.description) });
      await rename(task.unfinishedPath, task.path);
  }
});

async function write({ from, file, names, done }: Extract<FeaturesOrder, { kind: 'write' }>): Promise<void> {
  const { shape } = task;
  const named = names.map((name) => outputNames.next(name));
  if (done.length === 0) return;
  const atOnce = binsOfCell(shape) * Math.ceil(binsAtOnce / binsOfCell(shape));
  let row: Parameters<typeof featureRows>[0];
  for (const { place, first, bins } of readHistograms(file, done, binsOfSource(shape), atOnce)) {
    if (first === 0) {
      const { index, uri, video, captured } = done[place]!;
      const capture = rule.of({ uri, captured, video });
      row = { uri: redactUri(uri), name: named[index - from]!, video, capture };
    }
    for (const cell of featureRows(row!, first, bins, shape)) {
      // Few rows end a row group, and each wait would take a turn of the microtasks.
      const written = writer.add(cell);
      if (written) await written;
    }
  }
}

/**
 * Rows of a source in features.parquet: one for each of the cells whose `bins` are given, row by row, those without pixels too.
 * `first` bins come before them, laid out as `shape` says; a row is valid as long as they are.
 */
function* featureRows(
  { uri, name, video, capture }: { uri: string; name: string; video?: FrameOfVideo; capture: Capture },
  first: number,
  bins: Float64Array,
  shape: HistogramShape,
): Generator<FeatureRow> {
  const { atMs: capturedAtMs, camera } = capture;
  const { frame, timestampMs } = video ?? { frame: 0, timestampMs: null };
  const { columns } = shape.grid;
  const cellBins = binsOfCell(shape);
  for (let at = 0, cell = first / cellBins; at < bins.length; at += cellBins, cell++) {
    const histogram = bins.subarray(at, at + cellBins);
    // Every channel counts the same pixels.
    let counted = 0;
    for (let bin = 0; bin < shape.bins; bin++) counted += histogram[bin]!;
    const [cellRow, cellColumn] = [Math.floor(cell / columns), cell % columns];
    yield { source: uri, name, frame, timestampMs, capturedAtMs, camera, cellRow, cellColumn, counted, histogram };
  }
}
