// Runs in a worker thread: does what a SqliteStore orders, one order after another, and answers each.
import { serveOrders } from '@halogrid/threads';
import { packError } from '../../registry/packed-error.ts';
import type { Entry } from './ledger-store.ts';
import { obeySqliteOrders } from './obey-sqlite-orders.ts';

serveOrders(obeySqliteOrders(), {
  // Only pages are lists.
  moved: (answer) => (Array.isArray(answer) ? answer.map(({ value }: Entry) => value.buffer as ArrayBuffer) : []),
  pack: (error) => packError(error as Error),
});
