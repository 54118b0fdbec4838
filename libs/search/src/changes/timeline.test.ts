import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Timeline } from './timeline.ts';

test('peaks stay, however many frames a point stands for', () => {
  const timeline = new Timeline(8);
  for (let time = 0; time < 1000; time++) timeline.add({ time, step: time === 777 ? 1 : 0.1, reference: time / 1000 });
  const { points } = timeline;
  assert.ok(points.length >= 4 && points.length <= 8);
  assert.deepEqual([points[0]!.time, Math.max(...points.map(({ step }) => step))], [0, 1]);
  assert.equal(points.at(-1)!.reference, 0.999);
  const peak = points.findIndex(({ step }) => step === 1);
  assert.ok(points[peak]!.time <= 777 && (points[peak + 1]?.time ?? 1000) > 777);
});
