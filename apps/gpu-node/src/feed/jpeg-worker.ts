// Runs in a worker thread: reads batches of JPEGs.
import { JpegFrameReader } from '@halogrid/jpeg';
import type { EncodedBatch, JpegLimits } from './jpeg-orders.ts';
import { readJpegs } from './read-jpegs.ts';
import { serveBatchOrders } from './serve-batch-orders.ts';

const reader = new JpegFrameReader();

serveBatchOrders<JpegLimits, EncodedBatch>(
  (files, to, limits) => readJpegs(files, to, limits, reader),
  ({ layout, colours, taken }) => [
    ...[layout.files.buffer, layout.tables.buffer, taken.buffer],
    ...(colours ? [colours.firsts.buffer, colours.records.buffer] : []),
  ],
);
