// Runs in a worker thread: reads batches of raw frames.
import type { RawBatch, RawLimits } from './raw-orders.ts';
import { readRaw } from './read-raw.ts';
import { serveBatchOrders } from './serve-batch-orders.ts';

serveBatchOrders<RawLimits, RawBatch>(readRaw, ({ taken }) => [taken.buffer]);
