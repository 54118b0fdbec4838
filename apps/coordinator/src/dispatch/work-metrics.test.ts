import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRegistry } from '@halogrid/service/metrics';
import { createMetrics } from './work-metrics.ts';

const fresh = () => {
  const registry = createRegistry('coordinator');
  return { registry, metrics: createMetrics(registry) };
};

/** Upper bounds of the buckets, in seconds. */
async function boundsOf(name: string): Promise<number[]> {
  const text = await fresh().registry.getSingleMetricAsString(name);
  return [...text.matchAll(/_bucket\{le="([\d.]+)"/g)].map(([, bound]) => Number(bound));
}

test('before the first result, the time of the last result is absent', async () => {
  const { registry, metrics } = fresh();
  const shown = async () =>
    (await registry.getSingleMetricAsString('halogrid_last_result_timestamp_seconds')).split('\n');
  assert.ok((await shown()).every((line) => line.startsWith('#')));
  metrics.lastResult.set(1_800_000_000);
  assert.equal((await shown()).at(-1), 'halogrid_last_result_timestamp_seconds 1800000000');
});

test('buckets reach from common times to the longest waits: a day in the queue, half an hour on a device', async () => {
  const waits = await boundsOf('halogrid_shard_queue_duration_seconds');
  const work = await boundsOf('halogrid_merge_duration_seconds');
  assert.ok(waits[0]! <= 0.01 && waits.at(-1)! >= 24 * 3600, `${waits}`);
  assert.ok(work[0]! <= 0.001 && work.at(-1)! >= 30 * 60, `${work}`);
  // Each bucket is a series; a bucket of work is a series for each kernel or stage.
  assert.ok(waits.length <= 20 && work.length <= 17, `${waits.length}, ${work.length}`);
  // A quantile is as exact as the bounds around it: from a minute to a few hours, within a factor of 2.5.
  const [from, to] = [waits.indexOf(60), waits.indexOf(21_600)];
  for (let i = from; i < to; i++) assert.ok(waits[i + 1]! / waits[i]! <= 2.5, `${waits[i]}`);
});
