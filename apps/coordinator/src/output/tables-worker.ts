// Runs in a worker thread: writes the tables of a job's sources as its TablesFile orders, one order at a time.
import { rename } from 'node:fs/promises';
import { type FeatureRow, FeatureWriter } from '@halogrid/results/features';
import { type Capture, CaptureRule } from '@halogrid/sources/captured';
import { redactUri } from '@halogrid/sources/redact-uri';
import { serveOrders } from '@halogrid/threads';
import { binsOfCell, binsOfSource, type HistogramShape } from '../job/histogram-shape.ts';
import type { FrameOfVideo } from '../job/shard.ts';
import type { SettledRow } from '../ledger/ledger.ts';
import { readHistograms } from '../ledger/read-histograms.ts';
import { countedRows, settledRows } from '../ledger/settled-rows.ts';
import { OutputNames } from './output-names.ts';
import { SourceTables } from './source-tables.ts';
import type { TablesOrder, TablesTask } from './tables-file.ts';
import type { PartSummary } from './tables-output.ts';

/** Counts in memory at once, of one source. */
const binsAtOnce = 2 ** 18;

let task: TablesTask;
let rule: CaptureRule;
let outputNames: OutputNames;
let tables: SourceTables;
/** Undefined where the pipeline has no histogram. */
let features: FeatureWriter | undefined;

serveOrders(async (order: TablesOrder): Promise<PartSummary | undefined> => {
  switch (order.kind) {
    case 'open':
      task = order;
      rule = new CaptureRule(task.captured);
      outputNames = new OutputNames();
      tables = await SourceTables.create({ ...task.unfinished, rule });
      features =
        task.shape.bins > 0 ? await FeatureWriter.create(task.unfinished.features, binsOfCell(task.shape)) : undefined;
      return;
    case 'write':
      await write(order);
      return;
    case 'finish': {
      await features?.finish({ halogrid: JSON.stringify(order.description) });
      const summary = await tables.finish(order.named);
      for (const table of ['features', 'sources', 'errors'] as const) {
        await rename(task.unfinished[table], task.paths[table]).catch((error: NodeJS.ErrnoException) => {
          // A job without histograms, or without errors, has no such table.
          const isMissing = error.code === 'ENOENT' && (table === 'errors' || (table === 'features' && !features));
          if (!isMissing) throw error;
        });
      }
      return summary;
    }
  }
});

async function write({ runs, file }: Extract<TablesOrder, { kind: 'write' }>): Promise<void> {
  const sources = [...settledRows({ runs, file })];
  const names: string[] = [];
  for (const source of sources) {
    const name = outputNames.next(source.name);
    names.push(name);
    const written = tables.add(source, name);
    if (written) await written;
  }
  if (features) await writeFeatures(features, sources, names, file);
}

async function writeFeatures(
  writer: FeatureWriter,
  sources: readonly SettledRow[],
  names: readonly string[],
  file: string,
): Promise<void> {
  const { shape } = task;
  const done = countedRows(sources);
  if (done.length === 0) return;
  const atOnce = binsOfCell(shape) * Math.ceil(binsAtOnce / binsOfCell(shape));
  const places = done.map(({ place }) => place);
  let row: Parameters<typeof featureRows>[0];
  for (const { place, first, bins } of readHistograms(file, places, binsOfSource(shape), atOnce)) {
    if (first === 0) {
      const source = done[place]!;
      const name = names[source.index - sources[0]!.index]!;
      row = { uri: redactUri(source.uri), name, video: source.video, capture: rule.of(source) };
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
