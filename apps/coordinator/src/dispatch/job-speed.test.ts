import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JobSpeed } from './job-speed.ts';

test('the speed is the mean since the first lease, and then of the last ten seconds', () => {
  const speed = new JobSpeed();
  assert.equal(speed.at(500), undefined);
  speed.begin(1000);
  speed.begin(9000);
  assert.equal(speed.at(2000), undefined);
  for (let ms = 2000; ms <= 60_000; ms += 1000) speed.count(ms, 3e6);
  const since = new JobSpeed();
  since.begin(1000);
  since.count(1100, 1e6);
  since.count(1200, 1e6);
  assert.deepEqual(since.at(3000), { pixelsPerSecond: 1e6, shardsPerSecond: 1 });
  assert.deepEqual(speed.at(60_000), { pixelsPerSecond: 3e6, shardsPerSecond: 1 });
});

test('a job that stands still slows down and then has no speed', () => {
  const speed = new JobSpeed();
  speed.begin(0);
  for (let ms = 100; ms <= 20_000; ms += 100) speed.count(ms, 100);
  const seen = [20_000, 25_000, 31_000].map((ms) => speed.at(ms)?.pixelsPerSecond);
  assert.ok(Math.abs(seen[0]! - 1000) < 30 && Math.abs(seen[1]! - 500) < 30, String(seen));
  assert.equal(seen[2], undefined);
});

test('a job that has ended has no speed', () => {
  const speed = new JobSpeed();
  speed.begin(0);
  speed.count(500, 100);
  assert.ok(speed.at(1000));
  speed.end();
  assert.equal(speed.at(1000), undefined);
});
