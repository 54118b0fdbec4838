import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { endThread } from './end-thread.ts';

/** A thread that adds one to `count` when it has worked for a while without a pause, at its start and whenever it is told to. */
function startBusy(count: Int32Array): Worker {
  const program = `
    import { parentPort, workerData } from 'node:worker_threads';
    import { endWhenAsked } from '${new URL('./end-thread.ts', import.meta.url).href}';
    endWhenAsked(parentPort);
    const work = () => {
      for (const until = performance.now() + 100; performance.now() < until; );
      Atomics.add(workerData, 0, 1);
    };
    parentPort.on('message', work);
    work();
    parentPort.postMessage('started');`;
  return new Worker(new URL(`data:text/javascript,${encodeURIComponent(program)}`), { workerData: count });
}

test('a thread that is at something ends afterwards, and does no more', async () => {
  const count = new Int32Array(new SharedArrayBuffer(4));
  await endThread(startBusy(count));
  assert.equal(count[0], 1, 'asked before it had started');

  const worker = startBusy(count);
  await once(worker, 'message');
  worker.postMessage('work');
  const ended = endThread(worker);
  worker.postMessage('work');
  await ended;
  assert.equal(count[0], 3, 'asked between two tasks');
});

test('a thread that has ended is not waited for', async () => {
  const worker = new Worker(new URL('data:text/javascript,'));
  await once(worker, 'exit');
  await endThread(worker);
});

test('a thread ends those that it has started first, between two of their tasks', async () => {
  const count = new Int32Array(new SharedArrayBuffer(4));
  const here = new URL('./end-thread.ts', import.meta.url).href;
  const inner = `
    import { parentPort, workerData } from 'node:worker_threads';
    import { endWhenAsked } from '${here}';
    endWhenAsked(parentPort);
    parentPort.postMessage('started');
    for (const until = performance.now() + 100; performance.now() < until; );
    Atomics.add(workerData, 0, 1);`;
  const outer = `
    import { parentPort, Worker, workerData } from 'node:worker_threads';
    import { endBefore, endWhenAsked } from '${here}';
    endWhenAsked(parentPort);
    const worker = new Worker(new URL(${JSON.stringify(`data:text/javascript,${encodeURIComponent(inner)}`)}), { workerData });
    endBefore(worker);
    worker.once('message', () => parentPort.postMessage('started'));`;
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(outer)}`), { workerData: count });
  await once(worker, 'message');
  await endThread(worker);
  assert.equal(count[0], 1);
});
