// Runs in a worker thread: finds restart markers of JPEGs.
import { workerData } from 'node:worker_threads';
import { restrictSources } from '@halogrid/sources';
import { serveOrders } from '@halogrid/threads';
import type { BatchThreadSetup } from './batch-orders.ts';
import { indexJpeg } from './index-jpeg.ts';
import type { IndexOrder } from './index-thread.ts';

restrictSources((workerData as BatchThreadSetup).access);
serveOrders(({ file, leastPixels }: IndexOrder) => indexJpeg(file, leastPixels));
