import assert from 'node:assert/strict';
import { test } from 'node:test';
import { measureKernelTimes } from './time-strategies.ts';

const lbp = { kernel: 'lbp', parameters: {} };

test('every case has the time of each repetition, by the clock of the device', async () => {
  const { rows } = await measureKernelTimes({
    kind: 'software',
    size: { width: 200, height: 100 },
    cases: [
      { name: 'map', operations: [lbp], output: 'map' },
      { name: 'two kernels', operations: [lbp, lbp], output: 'both', input: 'flat' },
    ],
    repetitions: 3,
    runsPerSample: 2,
  });
  assert.deepEqual(
    rows.map(({ name, samplesMs }) => [name, samplesMs.length]),
    [
      ['map', 3],
      ['two kernels', 3],
    ],
  );
  for (const { samplesMs } of rows) for (const ms of samplesMs) assert.ok(ms > 0);
});
