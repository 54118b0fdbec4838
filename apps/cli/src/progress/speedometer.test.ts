import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Speedometer } from './describe-progress.ts';

test('a job that has just begun has no speed', () => {
  assert.deepEqual(new Speedometer().measure(5000, 100, 1), { pixelsPerSecond: 0, shardsPerSecond: 0 });
});

test('a steady job has its speed', () => {
  const speedometer = new Speedometer();
  for (let second = 0; second < 60; second++) {
    const speed = speedometer.measure(second * 1000, second * 500, second * 2);
    if (second > 0) assert.deepEqual(speed, { pixelsPerSecond: 500, shardsPerSecond: 2 });
  }
});

test('what was longer than ten seconds ago does not count', () => {
  const speedometer = new Speedometer();
  speedometer.measure(0, 0, 0);
  speedometer.measure(1000, 1_000_000, 10);
  assert.equal(speedometer.measure(10_500, 1_000_000, 10).pixelsPerSecond, 1_000_000 / 10.5);
  assert.equal(speedometer.measure(11_000, 1_000_000, 10).pixelsPerSecond, 0);
});
