import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually, pause } from '@halogrid/testing';
import { createRegistry } from './metrics.ts';

test('the lag of the event loop since the last scrape is reported, without the expensive standard deviation', async () => {
  const registry = createRegistry('node', {});
  const told = async () => {
    const lines = (await registry.metrics()).split('\n').filter((line) => line.startsWith('nodejs_eventloop_lag_'));
    return new Map(lines.map((line) => [line.split(' ')[0]!, Number(line.split(' ')[1])]));
  };
  const names = ['min', 'max', 'mean', 'p50', 'p90', 'p99'].map((which) => `nodejs_eventloop_lag_${which}_seconds`);
  assert.deepEqual([...(await told()).keys()], names);
  const isLate = (lag: Map<string, number>, which: string) => lag.get(`nodejs_eventloop_lag_${which}_seconds`)! >= 0.15;
  // The monitor looks every ten milliseconds. It must look before and after the pause; if not, this is tried again.
  await eventually('the lag of a loop that is held', async () => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
    await pause(50);
    const lag = await told();
    return isLate(lag, 'max') && isLate(lag, 'p99');
  });
  await eventually('a lag without what was told before', async () => !isLate(await told(), 'max'));
});
