// Runs in a worker thread: writes features.parquet as the FeaturesFile of a job orders, one order at a time. Whatever fails
// ends the thread with its error.
import { rename } from 'node:fs/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { FeatureWriter } from '@halogrid/imaging/features';
import { redactUri } from '@halogrid/imaging/redact-uri';
import { binsOfCell, binsOfSource } from '../ledger/histogram-shape.ts';
import { readHistograms } from '../ledger/read-histograms.ts';
import { featureRows } from './feature-rows.ts';
import type { FeaturesOrder, FeaturesTask } from './features-file.ts';

const port = parentPort!;
const { path, unfinishedPath, shape } = workerData as FeaturesTask;
const writer = await FeatureWriter.create(unfinishedPath, binsOfCell(shape));

port.on('message', async (order: FeaturesOrder) => {
  if (order.kind === 'write') await write(order);
  else await finish();
  port.postMessage('done');
});

async function write({ file, done }: Extract<FeaturesOrder, { kind: 'write' }>): Promise<void> {
  let source = 0;
  for (const bins of readHistograms(file, done, binsOfSource(shape))) {
    for (const row of featureRows(redactUri(done[source++]!.uri), bins, shape)) await writer.add(row);
  }
}

async function finish(): Promise<void> {
  await writer.finish();
  await rename(unfinishedPath, path);
}
