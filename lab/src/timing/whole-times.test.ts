import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KernelCase } from '@halogrid/bench/kernel-case';
import { measureWholeTimes } from './whole-times.ts';

const lbp = { kernel: 'lbp', parameters: {} };
const size = { width: 200, height: 100 };

test('every case has the time of each repetition, transfers included', async () => {
  const cases: KernelCase[] = [
    { name: 'map', operations: [lbp], output: 'map' },
    { name: 'two kernels', operations: [lbp, lbp], output: 'both', input: 'flat' },
  ];
  const { rows } = await measureWholeTimes({ kind: 'software', size, cases, repetitions: 3 });
  assert.deepEqual(
    rows.map(({ name, samplesMs }) => [name, samplesMs.length]),
    [
      ['map', 3],
      ['two kernels', 3],
    ],
  );
  for (const { samplesMs } of rows) for (const ms of samplesMs) assert.ok(ms > 0);
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
