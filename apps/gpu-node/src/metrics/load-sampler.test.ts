import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LoadSampler } from './load-sampler.ts';
import { WorkerMeter } from './worker-meter.ts';

test('the load of workers is reported as the mean since the last report, and idle workers are reported once', () => {
  let now = 0;
  const meter = (workers: number) => new WorkerMeter(workers, () => now);
  const workers = { decode: meter(2), video: meter(0), device: meter(1) };
  const sampler = new LoadSampler(workers, () => now);
  now = 5000;
  assert.equal(sampler.take(), undefined);
  for (let i = 0; i < 3; i++) workers.decode.begin();
  now = 7500;
  workers.decode.end();
  workers.decode.end();
  now = 10_000;
  const rests = { workers: 0, busy: 0, queued: 0 };
  // For 2.5 s two workers are busy and a third piece of work waits; for the other 2.5 s one is busy.
  const told = { decode: { workers: 2, busy: 1.5, queued: 0 }, video: rests, device: { ...rests, workers: 1 } };
  assert.deepEqual(sampler.take(), told);
  workers.decode.end();
  now = 15_000;
  assert.deepEqual(sampler.take()?.decode, { workers: 2, busy: 0, queued: 0 });
  now = 20_000;
  assert.equal(sampler.take(), undefined);
});
