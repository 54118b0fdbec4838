import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

const program = `
  const { parentPort } = require('node:worker_threads');
  parentPort.on('message', () => {
    let sum = 1;
    for (let i = 0; i < 3e6; i++) sum = (Math.imul(sum, 31) + i) | 0;
    parentPort.postMessage(sum);
  });`;

let worker: Worker | undefined;

/**
 * The same piece of work every time, some four milliseconds of one core of a machine at rest, in a thread of its own: what an answer of
 * the coordinator is timed beside.
 */
export async function fixedWork(): Promise<void> {
  worker ??= new Worker(program, { eval: true });
  worker.unref();
  const done = once(worker, 'message');
  worker.postMessage(undefined);
  await done;
}
