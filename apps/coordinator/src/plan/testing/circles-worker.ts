// Runs in a worker thread of PlanThreads, in tests. It works as plan-worker.ts, but loops without end on sources with
// certain names.
import { parentPort, workerData } from 'node:worker_threads';
import { ThreadLife } from '@halogrid/threads';
import type { ListingOrder } from '../plan-threads.ts';
import { serveListings } from '../serve-listings.ts';

const life = new ThreadLife(workerData.life);

parentPort!.on('message', (order: ListingOrder | string) => {
  if (typeof order === 'string') return;
  const sources = 'spec' in order ? order.spec.sources : order.uris;
  for (const [i, uri] of sources.entries()) {
    life.at(i);
    if (uri.endsWith('circles.parquet')) for (;;);
    // Little by little: if one large allocation meets the limit, V8 ends the process instead of the thread.
    let hoard = {};
    if (uri.endsWith('hoards.parquet')) for (;;) hoard = { hoard };
  }
});
serveListings();
