// Runs in a worker thread: peeks at the files it is told of, all of a message at once.
import { parentPort, workerData } from 'node:worker_threads';
import { restrictSources } from '../access/source-access.ts';
import { peekSize } from './peek-size.ts';
import type { PeekOrder } from './peek-thread.ts';

const port = parentPort!;
restrictSources(workerData);

port.on('message', async ({ id, uris }: PeekOrder) => {
  port.postMessage({ id, sizes: await Promise.all(uris.map(peekSize)) });
});
