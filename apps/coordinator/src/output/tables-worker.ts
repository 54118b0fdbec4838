// Runs in a worker thread: reads parts and writes tables as a TablesFile orders.
import { memoryOfTables } from '@halogrid/results/range-tables';
import { packSystemError, serveOrders } from '@halogrid/threads';
import type { TablesAnswer, TablesOrder } from './tables-order.ts';
import { TablesOrders } from './tables-orders.ts';

const orders = new TablesOrders();

serveOrders((order: TablesOrder) => orders.obey(order), {
  pack: packSystemError,
  moved: (answer: TablesAnswer) => (answer?.kind === 'read' ? memoryOfTables(answer.tables) : []),
});
