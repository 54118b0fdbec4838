// Runs in a worker thread: writes the tables of a job's sources as its TablesFile orders, one order at a time.
import { readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { FeatureWriter } from '@halogrid/results/features';
import { listNames } from '@halogrid/results/source-list';
import { CaptureRule } from '@halogrid/sources/captured';
import { redactUri } from '@halogrid/sources/redact-uri';
import { packSystemError, serveOrders } from '@halogrid/threads';
import { binsOfCell } from '../job/histogram-shape.ts';
import type { SettledRow } from '../ledger/ledger.ts';
import { readPackedHistograms } from '../ledger/read-histograms.ts';
import type { HistogramPlace } from '../ledger/record/settled-source.ts';
import { SettledFrames } from '../ledger/settled-frames.ts';
import { countedRows } from '../ledger/settled-rows.ts';
import { OutputNames } from './output-names.ts';
import { SourceTables } from './source-tables.ts';
import type { TablePaths, TablesOrder, TablesTask } from './tables-file.ts';
import type { PartSummary } from './tables-output.ts';

type DoneRow = Extract<SettledRow, { state: 'done' }>;

let task: TablesTask;
let rule: CaptureRule;
let outputNames: OutputNames;
let tables: SourceTables;
/** Undefined where the pipeline has no histogram. */
let features: FeatureWriter | undefined;

serveOrders(
  async (order: TablesOrder): Promise<PartSummary | undefined> => {
    switch (order.kind) {
      case 'open':
        task = order;
        await removeLeftOvers(task.unfinished);
        rule = new CaptureRule(task.captured);
        outputNames = new OutputNames(() => tables.namesSoFar());
        tables = await SourceTables.create({ ...task.unfinished, rule, mostLines: task.limits?.lines });
        features = undefined;
        if (task.shape.bins > 0) {
          const { grid } = task.shape;
          const bins = binsOfCell(task.shape);
          features = await FeatureWriter.create(task.unfinished.features, { grid, bins }, task.limits);
        }
        return;
      case 'write':
        await write(order);
        return;
      case 'finish': {
        await features?.finish(order.sources, { halogrid: JSON.stringify(order.description) });
        const summary = await tables.finish(order.named);
        const list = summary.file === listNames.rows ? 'rows' : 'sources';
        for (const table of ['features', list, 'errors'] as const) await moveTable(table);
        return summary;
      }
    }
  },
  { pack: packSystemError },
);

/** Removes unfinished tables of a thread that failed, because they take room, and a folder takes the place of none. */
async function removeLeftOvers(unfinished: TablePaths): Promise<void> {
  for (const path of Object.values(unfinished) as string[]) {
    const folder = dirname(path);
    const names = (await readdir(folder).catch((): string[] => [])).filter((name) =>
      `${name}.`.startsWith(`${basename(path)}.`),
    );
    for (const name of names) await rm(join(folder, name), { recursive: true, force: true });
  }
}

/** Moves a table to its place, where a thread that failed may have left another. */
async function moveTable(table: keyof TablePaths): Promise<void> {
  await rm(task.paths[table], { recursive: true, force: true });
  await rename(task.unfinished[table], task.paths[table]).catch((error: NodeJS.ErrnoException) => {
    // A job without histograms, or without errors, has no such table.
    const isMissing = error.code === 'ENOENT' && (table === 'errors' || (table === 'features' && !features));
    if (!isMissing) throw error;
  });
}

async function write({ runs, file }: Extract<TablesOrder, { kind: 'write' }>): Promise<void> {
  for (const run of runs) {
    if (run.kind === 'sources') await writeRows(run.sources, file, placesOf(run.sources));
    else {
      const frames = new SettledFrames(run, file);
      await writeRows(frames.rows(), file, frames.places());
    }
  }
}

const placesOf = (rows: readonly SettledRow[]) => countedRows(rows).map(({ place }) => place);

/** Writes rows, and the histograms of those that have a place, which is among `places` in the same order. */
async function writeRows(rows: Iterable<SettledRow>, file: string, places: readonly HistogramPlace[]): Promise<void> {
  const histograms = readPackedHistograms(file, features ? places : []);
  for (const row of rows) {
    const name = outputNames.next(row.name);
    const written = tables.add(row, name);
    if (written) await written;
    if (!features || row.state !== 'done' || !row.place) continue;
    const { bytes, areNew, at } = histograms.next().value!;
    if (areNew) features.load(bytes);
    await addHistograms(row, name, at);
  }
}

/** Adds the rows of a source, whose counts begin there in what was loaded. */
async function addHistograms(row: DoneRow, name: string, from: number): Promise<void> {
  const { grid, bins } = task.shape;
  const { uri, index: number, video } = row;
  const { atMs: capturedAtMs, camera } = rule.of(row);
  const { frame = 0, timestampMs = null } = video ?? {};
  const begun = features!.begin({ number, source: redactUri(uri), name, frame, timestampMs, capturedAtMs, camera });
  if (begun) await begun;
  let at = from;
  // Cells without pixels have a row too.
  for (let cell = 0; cell < grid.rows * grid.columns; cell++) {
    // Every channel counts the same pixels.
    at = features!.addPacked(at, bins);
    if (features!.isFull) await features!.writePage();
  }
}
