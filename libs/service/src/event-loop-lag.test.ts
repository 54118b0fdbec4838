import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createRegistry } from './metrics.ts';

test('the lag of the event loop since the last scrape, without what is dear to compute', async () => {
  const registry = createRegistry('node', {});
  const told = async () => {
    const lines = (await registry.metrics()).split('\n').filter((line) => line.startsWith('nodejs_eventloop_lag_'));
    return new Map(lines.map((line) => [line.split(' ')[0]!, Number(line.split(' ')[1])]));
  };
  await delay(50);
  await told();
  // The monitor looks once in ten milliseconds, and counts from its first look on.
  await delay(50);
  const until = performance.now() + 200;
  while (performance.now() < until) {}
  await delay(50);
  const lag = await told();
  const names = ['min', 'max', 'mean', 'p50', 'p90', 'p99'].map((which) => `nodejs_eventloop_lag_${which}_seconds`);
  assert.deepEqual([...lag.keys()], names);
  assert.ok(lag.get('nodejs_eventloop_lag_max_seconds')! >= 0.15, String([...lag]));
  assert.ok(lag.get('nodejs_eventloop_lag_p99_seconds')! >= 0.15, String([...lag]));
  await delay(50);
  assert.notEqual((await told()).get('nodejs_eventloop_lag_max_seconds'), lag.get('nodejs_eventloop_lag_max_seconds'));
});
