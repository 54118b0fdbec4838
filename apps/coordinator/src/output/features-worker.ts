// Runs in a worker thread: writes features.parquet as the FeaturesFile of a job orders, one order at a time. Whatever fails
// ends the thread with its error.
import { rename } from 'node:fs/promises';
import { parentPort } from 'node:worker_threads';
import { FeatureWriter } from '@halogrid/results/features';
import { redactUri } from '@halogrid/sources/redact-uri';
import { binsOfCell, binsOfSource } from '../ledger/histogram-shape.ts';
import { readHistograms } from '../ledger/read-histograms.ts';
import { featureRows } from './feature-rows.ts';
import type { FeaturesOrder, FeaturesTask } from './features-file.ts';

const port = parentPort!;
let task: FeaturesTask;
let writer: FeatureWriter;

port.on('message', async (order: FeaturesOrder) => {
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
  port.postMessage('done');
});

async function write({ file, done }: Extract<FeaturesOrder, { kind: 'write' }>): Promise<void> {
  const { shape } = task;
  let source = 0;
  for (const bins of readHistograms(file, done, binsOfSource(shape))) {
    const { uri, video } = done[source++]!;
    for (const row of featureRows({ uri: redactUri(uri), video }, bins, shape)) await writer.add(row);
  }
}
