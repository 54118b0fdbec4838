// Runs in a worker thread: decodes row groups of a features.parquet as the index orders.
import type { Transferable } from 'node:worker_threads';
import { type FeatureColumns, FeatureReader } from '@halogrid/results/feature-reader';
import { serveOrders } from '@halogrid/threads';

/** A row group of the file at `path`, whose histograms have so many counts. */
export interface FeaturesOrder {
  path: string;
  rowGroup: number;
  bins: number;
}

let open: { path: string; reader: FeatureReader } | undefined;

serveOrders(
  async ({ path, rowGroup, bins }: FeaturesOrder): Promise<FeatureColumns> => {
    if (open?.path !== path) open = { path, reader: (await FeatureReader.open(path))! };
    return open.reader.columns(rowGroup, bins);
  },
  {
    moved: ({ histogram, counted, timestampMs, capturedAtMs }): Transferable[] =>
      [histogram, counted, timestampMs, capturedAtMs].map(({ buffer }) => buffer as ArrayBuffer),
  },
);
