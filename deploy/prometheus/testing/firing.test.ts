import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firings } from './firing.ts';

const at = (...seconds: number[]): [number, number][] => seconds.map((second) => [second, 1]);

test('an alert fires once its series existed for long enough without a gap, until the series ends', () => {
  const metric = { cluster: 'lab' };
  const series = [{ metric, samples: at(60, 120, 180, 240, 360, 420, 480) }];
  assert.deepEqual(firings(series, 120, 60), [
    { labels: metric, from: 180, to: 240 },
    { labels: metric, from: 480, to: 480 },
  ]);
  assert.deepEqual(firings(series, 0, 60), [
    { labels: metric, from: 60, to: 240 },
    { labels: metric, from: 360, to: 480 },
  ]);
  assert.deepEqual(firings(series, 300, 60), []);
});
