import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { memoryFolder, repeated } from '@halogrid/testing';
import { checkMoment, checkOutcome } from './check-outcome.ts';
import { findFailure, firstSeed, scheduleRuns } from './find-failure.ts';
import type { MetricSums } from './metric-sums.ts';
import { arrangeScenario } from './scenario.ts';
import { SimulatedCluster } from './simulated-cluster.ts';

const runs = scheduleRuns(repeated(15, 250));

/** Plays one schedule; resolves with its metrics and how long it took. */
async function simulate(seed: number): Promise<MetricSums & { tookMs: number }> {
  const folder = await mkdtemp(join(memoryFolder, 'halogrid-simulation-'));
  const cluster = await SimulatedCluster.create({ seed, commitMs: seed % 3 === 0 ? 30 : 0, folder });
  try {
    arrangeScenario(cluster, seed);
    await cluster.untilEnded(() => checkMoment(cluster));
    await checkOutcome(cluster);
    return { ...(await cluster.counted()), tookMs: cluster.clock.monotonicMs() };
  } finally {
    await cluster.close();
    await rm(folder, { recursive: true });
  }
}

const failure = await findFailure('simulation.test.ts', runs, simulate);

test(`${runs} schedules of faults, each of its own seed, have the results of the undisturbed job, bit for bit`, () => {
  assert.ifError(failure);
});

test('a seed decides everything that happens', async () => {
  for (let seed = firstSeed; seed < firstSeed + repeated(1); seed++)
    assert.deepEqual(await simulate(seed), await simulate(seed));
});
