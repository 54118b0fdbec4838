// Runs in a worker thread: reads batches of JPEGs as the JpegThreads of the process order.
import { workerData } from 'node:worker_threads';
import { memoryAt } from '@halogrid/imaging/native-memory';
import { JpegFrameReader } from '@halogrid/jpeg';
import { restrictSources } from '@halogrid/sources';
import { serveOrders } from '@halogrid/threads';
import type { EncodedBatch, JpegOrder, JpegThreadSetup } from './jpeg-orders.ts';
import { readJpegs } from './read-jpegs.ts';

const { access } = workerData as JpegThreadSetup;
restrictSources(access);
const reader = new JpegFrameReader();

serveOrders(
  ({ files, limits, address, length }: JpegOrder): Promise<EncodedBatch> =>
    readJpegs(files, memoryAt(address, length), limits, reader),
  { moved: ({ layout, taken }) => [layout.files.buffer, layout.tables.buffer, taken.buffer as ArrayBuffer] },
);
