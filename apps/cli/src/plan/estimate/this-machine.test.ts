import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KeptRun } from './run-records.ts';
import { expectedDevice, slowdownNow } from './this-machine.ts';

test('the device is the one that was chosen the last time, or that has a driver here', () => {
  const chose = (device: KeptRun['device'], isChosen = true) => ({ device, isChosen });
  assert.equal(expectedDevice('software', [chose('gpu')]), 'software');
  assert.equal(
    expectedDevice('auto', [chose('gpu'), chose('cpu'), chose('software', false)], () => true),
    'cpu',
  );
  assert.equal(
    expectedDevice('auto', [], () => true),
    'gpu',
  );
  assert.equal(
    expectedDevice('auto', [chose('gpu', false)], () => false),
    'cpu',
  );
});

test('a slowdown of at least 1 is measured on this machine', async () => {
  const slowdown = await slowdownNow(1);
  assert.ok(slowdown >= 1 && Number.isFinite(slowdown), `${slowdown}`);
});
