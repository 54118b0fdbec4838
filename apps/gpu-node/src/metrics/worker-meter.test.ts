import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WorkerMeter } from './worker-meter.ts';

test('workers are busy up to their number, and work beyond that waits', () => {
  let ms = 0;
  const meter = new WorkerMeter(2, () => ms);
  meter.begin();
  ms = 1_000;
  meter.begin();
  meter.begin();
  assert.deepEqual([meter.busy, meter.queued], [2, 1]);
  ms = 3_000;
  assert.equal(meter.seconds, 1 + 2 * 2);
  meter.end();
  meter.end();
  ms = 4_000;
  assert.deepEqual([meter.busy, meter.queued, meter.seconds], [1, 0, 6]);
});

test('work that fails has ended as well', async () => {
  const meter = new WorkerMeter(1, () => 0);
  await assert.rejects(
    meter.during(async () => {
      throw new Error('as it is');
    }),
  );
  assert.equal(meter.busy, 0);
});
