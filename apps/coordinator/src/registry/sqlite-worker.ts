// Runs in a worker thread: does what a SqliteRegistry orders, one order after another, and answers each.
import { serveOrders } from '@halogrid/threads';
import { obeySqliteOrders } from './obey-sqlite-orders.ts';
import { packError } from './packed-error.ts';

serveOrders(obeySqliteOrders(), { pack: (error) => packError(error as Error) });
