import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BatchThreads } from './batch-threads.ts';

const program = new URL('./testing/waiting-worker.ts', import.meta.url);
const files = [{ uri: 'file:///a' }];

test('a batch goes to the thread with the fewest waiting batches', async (t) => {
  const threads = new BatchThreads<Int32Array, number>(program, 2);
  t.after(() => threads.close());
  const to = new Uint8Array(16);
  const [until, isDone] = [0, 1].map((word) => new Int32Array(new SharedArrayBuffer(4)).fill(word)) as [
    Int32Array,
    Int32Array,
  ];
  const long = threads.read(files, to, until);
  const short: number[] = [];
  for (let i = 0; i < 3; i++) short.push(await threads.read(files, to, isDone));
  Atomics.store(until, 0, 1);
  Atomics.notify(until, 0);
  const busy = await long;
  assert.equal(new Set(short).size, 1);
  assert.ok(!short.includes(busy));
  // While the threads are idle, a batch goes to the first one.
  assert.equal(await threads.read(files, to, isDone), busy);
});
