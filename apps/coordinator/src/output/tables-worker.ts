// Runs in a worker thread: writes the tables of a job's sources as its TablesFile orders, one order at a time.
import { packSystemError, serveOrders } from '@halogrid/threads';
import type { TablesOrder } from './tables-order.ts';
import { TablesWriter } from './tables-writer.ts';

const writer = new TablesWriter();

serveOrders((order: TablesOrder) => writer.obey(order), { pack: packSystemError });
