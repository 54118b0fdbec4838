// Runs in a worker thread: packs shards, and writes them as parts of their jobs, as a PartThread orders it.
import { packSystemError, serveOrders } from '@halogrid/threads';
import { obeyPartOrders } from './obey-part-orders.ts';

serveOrders(obeyPartOrders(), { pack: packSystemError });
