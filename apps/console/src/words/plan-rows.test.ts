import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planRows } from './plan-rows.js';

const plan = {
  sources: 29,
  kept: 0,
  quarantined: 2,
  unknown: 0,
  pixels: 22_000_000,
  shards: 12,
  videoFrames: 0,
  mapsBytes: 0,
  featuresBytes: 61_000,
  scratchBytes: 0,
  notes: ['Two folders are left out'],
  isPart: false,
  reasons: [{ stage: 'decode', error: 'It is empty', inputs: 2, example: 'file:///in/a.png' }],
};

test('a plan says what is found, what is left out and what will be written', () => {
  assert.deepEqual(planRows(plan), [
    ['sources', '29, 2 cannot be read'],
    ['pixels', '22 Mpx'],
    ['shards', '12'],
    ['output', 'features 61 kB, at most'],
    ['cannot be read', '2 × decode: It is empty, e.g. /in/a.png'],
    ['note', 'Two folders are left out'],
  ]);
  assert.deepEqual(planRows({ ...plan, isPart: true })[0], ['so far', 'this is what was found in ten seconds']);
});
