import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { within } from '@halogrid/testing';
import { SpareThread } from './spare-thread.ts';
import { ThreadClient } from './thread-client.ts';

/** A thread that waits for orders, like all threads with this program. */
const server = new URL('./serve-orders.ts', import.meta.url).href;
const program = new URL(`data:text/javascript,import { serveOrders } from '${server}'; serveOrders(() => {});`);

test('of two returned threads one is kept, and is the next to be taken', async (t) => {
  const spare = new SpareThread(program);
  const [first, second] = [spare.take(), spare.take()];
  t.after(() => first.terminate());
  const ended = once(second, 'exit');
  spare.give(first);
  spare.give(second);
  await within('the end of the second thread', ended);
  // Otherwise the thread would wait forever, and each pair of jobs would leave another one.
  const next = spare.take();
  t.after(() => next.terminate());
  assert.equal(next, first);
});

test('a thread that ends while it waits is replaced', async () => {
  const spare = new SpareThread(program);
  const first = spare.take();
  spare.give(first);
  await first.terminate();
  const next = spare.take();
  assert.ok(next instanceof Worker && next !== first);
  await next.terminate();
});

test('a thread has no more listeners after many owners than after one', async (t) => {
  const spare = new SpareThread(program);
  const listeners = (thread: Worker) => ['message', 'error', 'exit'].map((name) => thread.listenerCount(name));
  const own = () => new ThreadClient(spare.take(), { ended: () => new Error('it has ended') }).release();
  const thread = own();
  t.after(() => thread.terminate());
  const first = listeners(thread);
  for (let i = 0; i < 3; i++) {
    spare.give(thread);
    assert.equal(own(), thread);
  }
  assert.deepEqual(listeners(thread), first);
});
