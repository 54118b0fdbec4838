// Runs in a worker thread for a PartThread: packs shards, and writes them as parts of their jobs.
import { packSystemError, serveOrders } from '@halogrid/threads';
import { obeyPartOrders } from './obey-part-orders.ts';

serveOrders(obeyPartOrders(), { pack: packSystemError });
