import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPipeline } from '@halogrid/kernels';
import { type BatchResult, DeviceLostError, type NodeDevice } from './device.ts';
import { withWatch } from './watched-device.ts';

const pipeline = createPipeline([{ kernel: 'lbp', parameters: {} }]);

/** A device whose batches wait for the test, and a clock that the test moves. */
function createWatched() {
  const batches: { resolve: (result: BatchResult) => void; reject: (error: Error) => void }[] = [];
  const timers = new Set<{ atMs: number; task: () => void }>();
  let nowMs = 0;
  const device: NodeDevice = {
    info: { kind: 'gpu', name: '', driver: '' },
    maxStagingBytes: 1000,
    batchBytes: 500,
    batchesInFlight: 2,
    lost: new Promise(() => {}),
    acquire: async (bytes) => ({ bytes: new Uint8Array(bytes), release: () => {} }),
    run: () => new Promise((resolve, reject) => void batches.push({ resolve, reject })),
    close: async () => {},
  };
  const watched = withWatch(device, 1000, (ms, task) => {
    const timer = { atMs: nowMs + ms, task };
    timers.add(timer);
    return () => void timers.delete(timer);
  });
  let reason = '';
  void watched.lost.then((why) => {
    reason = why;
  });
  return {
    watched,
    run: async () => watched.run(await watched.acquire(1), [], pipeline, false),
    finish: () => batches.shift()!.resolve({ items: [], seconds: { upload: 0, compute: 0, readback: 0 } }),
    fail: () => batches.shift()!.reject(new Error('It failed')),
    async pass(ms: number): Promise<string> {
      await new Promise(setImmediate);
      nowMs += ms;
      for (const timer of timers) if (timer.atMs <= nowMs) timer.task();
      await new Promise(setImmediate);
      return reason;
    },
  };
}

test('a device that gives batches back in time is not lost', async () => {
  const { run, finish, fail, pass } = createWatched();
  const results = Promise.allSettled([run(), run(), run()]);
  for (const end of [finish, fail, finish]) {
    assert.equal(await pass(900), '');
    end();
  }
  const states = (await results).map(({ status }) => status);
  assert.deepEqual(states, ['fulfilled', 'rejected', 'fulfilled']);
  assert.equal(await pass(5000), '', 'an idle device does not hang');
});

test('a device that gives nothing back is lost, and with it every batch', async () => {
  const { run, finish, pass } = createWatched();
  const results = [run(), run()].map((batch) => assert.rejects(batch, DeviceLostError));
  assert.equal(await pass(999), '');
  assert.equal(await pass(1), 'it has given no batch back for 1 s');
  await Promise.all(results);
  // Answers that come after the loss are ignored.
  finish();
  await pass(5000);
});
