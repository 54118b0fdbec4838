// Runs in a worker thread: writes features.parquet as the FeaturesFile of a job orders, one order at a time.
import { rename } from 'node:fs/promises';
import { FeatureWriter } from '@halogrid/results/features';
import { redactUri } from '@halogrid/sources/redact-uri';
import { serveOrders } from '@halogrid/threads';
import { binsOfCell, binsOfSource } from '../ledger/histogram-shape.ts';
import { readHistograms } from '../ledger/read-histograms.ts';
import { featureRows } from './feature-rows.ts';
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
