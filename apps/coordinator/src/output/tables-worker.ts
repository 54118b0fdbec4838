// Runs in a worker thread: writes the tables of a job's sources as its TablesFile orders, one order at a time.
import { rename } from 'node:fs/promises';
import { type FeatureFacts, FeatureWriter } from '@halogrid/results/features';
import { CaptureRule } from '@halogrid/sources/captured';
import { redactUri } from '@halogrid/sources/redact-uri';
import { serveOrders } from '@halogrid/threads';
import { binsOfCell } from '../job/histogram-shape.ts';
import type { SettledRow } from '../ledger/ledger.ts';
import { readPackedHistograms } from '../ledger/read-histograms.ts';
import { countedRows, settledRuns } from '../ledger/settled-rows.ts';
import { OutputNames } from './output-names.ts';
import { SourceTables } from './source-tables.ts';
import type { TablesOrder, TablesTask } from './tables-file.ts';
import type { PartSummary } from './tables-output.ts';

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
      outputNames = new OutputNames(() => tables.namesSoFar());
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
  for (const sources of settledRuns({ runs, file })) {
    const names: string[] = [];
    for (const source of sources) {
      const name = outputNames.next(source.name);
      names.push(name);
      const written = tables.add(source, name);
      if (written) await written;
    }
    if (features) await writeFeatures(features, sources, names, file);
  }
}

/** A row for each cell of each source, row by row, those without pixels too. */
async function writeFeatures(
  writer: FeatureWriter,
  sources: readonly SettledRow[],
  names: readonly string[],
  file: string,
): Promise<void> {
  const { rows, columns } = task.shape.grid;
  const done = countedRows(sources);
  if (done.length === 0) return;
  const first = sources[0]!.index;
  const places = done.map(({ place }) => place);
  for (const { place, bytes, areNew, at } of readPackedHistograms(file, places)) {
    if (areNew) writer.load(bytes);
    const source = done[place]!;
    const { uri, index, video } = source;
    const { atMs: capturedAtMs, camera } = rule.of(source);
    const facts: FeatureFacts = {
      source: redactUri(uri),
      name: names[index - first]!,
      frame: video?.frame ?? 0,
      timestampMs: video?.timestampMs ?? null,
      capturedAtMs,
      camera,
      cellRow: 0,
      cellColumn: 0,
    };
    let from = at;
    for (let cellRow = 0; cellRow < rows; cellRow++) {
      for (let cellColumn = 0; cellColumn < columns; cellColumn++) {
        // Every channel counts the same pixels.
        facts.cellRow = cellRow;
        facts.cellColumn = cellColumn;
        from = writer.addPacked(facts, from, task.shape.bins);
        if (writer.isFull) await writer.writeGroup();
      }
    }
  }
}
