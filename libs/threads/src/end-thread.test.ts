import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { pause, within } from '@halogrid/testing';
import { endThread } from './end-thread.ts';

/** How often threads have worked, and whether the gate is open. Threads end their work only once it is open. */
const shared = () => new Int32Array(new SharedArrayBuffer(8));

function openGate(state: Int32Array): void {
  Atomics.store(state, 1, 1);
  Atomics.notify(state, 1);
}

/** A thread that works, without a turn of its event loop, at its start and at every message. */
function startBusy(state: Int32Array): Worker {
  const program = `
    import { parentPort, workerData } from 'node:worker_threads';
    import { endWhenAsked } from '${new URL('./end-thread.ts', import.meta.url).href}';
    endWhenAsked(parentPort);
    const work = () => {
      Atomics.wait(workerData, 1, 0);
      Atomics.add(workerData, 0, 1);
    };
    parentPort.on('message', work);
    work();
    parentPort.postMessage('started');`;
  return new Worker(new URL(`data:text/javascript,${encodeURIComponent(program)}`), { workerData: state });
}

test('a busy thread ends after its task, and begins no other', async () => {
  const state = shared();
  const early = endThread(startBusy(state));
  openGate(state);
  await within('the end of a thread that starts', early);
  assert.equal(state[0], 1, 'asked before it had started');

  const worker = startBusy(state);
  await within('the start of a thread', once(worker, 'message'));
  state[1] = 0;
  worker.postMessage('work');
  const ended = endThread(worker);
  worker.postMessage('work');
  openGate(state);
  await within('the end of a thread at work', ended);
  assert.equal(state[0], 3, 'asked between two tasks');
});

test('a thread that has ended is not waited for', async () => {
  const worker = new Worker(new URL('data:text/javascript,'));
  await within('the end of a thread that does nothing', once(worker, 'exit'));
  await within('a thread that had ended before', endThread(worker));
});

test('a thread first ends the threads that it has started, between two of their tasks', async () => {
  const state = shared();
  const here = new URL('./end-thread.ts', import.meta.url).href;
  const inner = `
    import { parentPort, workerData } from 'node:worker_threads';
    import { endWhenAsked } from '${here}';
    endWhenAsked(parentPort);
    parentPort.postMessage('started');
    Atomics.wait(workerData, 1, 0);
    Atomics.add(workerData, 0, 1);`;
  const outer = `
    import { parentPort, Worker, workerData } from 'node:worker_threads';
    import { endBefore, endWhenAsked } from '${here}';
    endWhenAsked(parentPort);
    const worker = new Worker(new URL(${JSON.stringify(`data:text/javascript,${encodeURIComponent(inner)}`)}), { workerData });
    endBefore(worker);
    worker.once('message', () => parentPort.postMessage('started'));`;
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(outer)}`), { workerData: state });
  await within('the start of both threads', once(worker, 'message'));
  const ended = endThread(worker);
  // Enough time to end the inner thread in the middle of its work, if the code did that.
  await pause(100);
  openGate(state);
  await within('the end of both threads', ended);
  assert.equal(state[0], 1);
});
