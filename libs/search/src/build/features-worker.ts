// Runs in a worker thread: decodes row groups of a features.parquet as the index orders.
import type { Transferable } from 'node:worker_threads';
import { type FeatureColumns, FeatureReader } from '@halogrid/results/feature-reader';
import { PlaceError } from '@halogrid/results/place';
import { serveOrders } from '@halogrid/threads';
import { checkedColumns, type RowGroupOrder } from './checked-columns.ts';

/** A row group of the file at `path`, which may be an s3: URI. */
export interface FeaturesOrder extends RowGroupOrder {
  readonly path: string;
}

/** An error in a message: its words, and whether it is a PlaceError. */
export interface FeaturesFailure {
  message: string;
  isOfPlace: boolean;
}

let open: { path: string; reader: Promise<FeatureReader | undefined> } | undefined;

serveOrders(
  async ({ path, ...order }: FeaturesOrder): Promise<FeatureColumns> => {
    if (open?.path !== path) open = { path, reader: FeatureReader.open(path) };
    return checkedColumns((await open.reader)!, order);
  },
  {
    pack: (error): FeaturesFailure => ({
      message: error instanceof Error ? error.message : String(error),
      isOfPlace: error instanceof PlaceError,
    }),
    moved: ({ source, camera, ...numbers }): Transferable[] =>
      [source.numbers, camera.numbers, ...Object.values(numbers)].map(({ buffer }) => buffer),
  },
);
