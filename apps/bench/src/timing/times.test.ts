import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KernelCase } from './kernel-case.ts';
import { measureKernelTimes } from './time-strategies.ts';
import { measureWholeTimes } from './whole-times.ts';

const lbp = { kernel: 'lbp', parameters: {} };
const cases: KernelCase[] = [
  { name: 'map', operations: [lbp], output: 'map' },
  { name: 'two kernels', operations: [lbp, lbp], output: 'both', input: 'flat' },
];
const size = { width: 200, height: 100 };

test('every case has the time of each repetition, by the device and as a whole', async () => {
  const byDevice = await measureKernelTimes({ kind: 'software', size, cases, repetitions: 3, runsPerSample: 2 });
  const whole = await measureWholeTimes({ kind: 'software', size, cases, repetitions: 3 });
  assert.equal(byDevice.device, whole.device);
  for (const { rows } of [byDevice, whole]) {
    assert.deepEqual(
      rows.map(({ name }) => name),
      ['map', 'two kernels'],
    );
    for (const { samplesMs } of rows) {
      assert.equal(samplesMs.length, 3);
      for (const ms of samplesMs) assert.ok(ms > 0);
    }
  }
});

test('a case without the result that is asked for is one sentence', async () => {
  const variances: KernelCase = {
    name: 'variances',
    operations: [{ kernel: 'lbp', parameters: { labels: 'var' } }],
    output: 'both',
  };
  const measured = measureWholeTimes({ kind: 'cpu', size, cases: [variances], repetitions: 1 });
  await assert.rejects(measured, /The result of 'variances' has no histogram/);
});
