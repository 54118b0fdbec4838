import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { checkMoment, checkOutcome } from './check-outcome.ts';
import { arrangeScenario } from './scenario.ts';
import type { MetricSums } from './simulated-cluster.ts';
import { createCluster } from './testing.ts';

const { HALOGRID_SIMULATION_SEED, HALOGRID_SIMULATION_RUNS } = process.env;
const firstSeed = Number(HALOGRID_SIMULATION_SEED ?? Math.floor(Math.random() * 2 ** 31));
const runs = Number(HALOGRID_SIMULATION_RUNS ?? (HALOGRID_SIMULATION_SEED ? 1 : 1000));

/** Plays one schedule; returns what came of it and when. */
async function simulate(seed: number): Promise<MetricSums & { tookMs: number }> {
  const cluster = await createCluster(seed, seed % 3 === 0 ? 30 : 0);
  try {
    arrangeScenario(cluster, seed);
    await cluster.untilEnded(() => checkMoment(cluster));
    await checkOutcome(cluster);
    return { ...(await cluster.counted()), tookMs: cluster.clock.monotonicMs() };
  } finally {
    await cluster.close();
  }
}

/** Plays schedules one after another; throws what the first that fails should be told by. */
async function simulateAll(seeds: { first: number; count: number }): Promise<void> {
  for (let seed = seeds.first; seed < seeds.first + seeds.count; seed++) {
    try {
      await simulate(seed);
    } catch (error) {
      const again = `HALOGRID_SIMULATION_SEED=${seed} node --test apps/coordinator/src/simulation/simulation.test.ts`;
      throw new Error(`Seed ${seed}: ${(error as Error).message}\nRepeat it with: ${again}`, { cause: error });
    }
  }
}

// The runner of tests follows every promise of its thread, which takes as long as the simulation does. So that has its own.
if (!isMainThread) await simulateAll(workerData);
else {
  test(`${runs} schedules of faults, each of its own seed, come to the bits of the undisturbed job`, async () => {
    const seeds: Parameters<typeof simulateAll>[0] = { first: firstSeed, count: runs };
    await once(new Worker(new URL(import.meta.url), { workerData: seeds }), 'exit');
  });

  test('a seed decides everything that happens', async () => {
    for (let seed = firstSeed; seed < firstSeed + 10; seed++)
      assert.deepEqual(await simulate(seed), await simulate(seed));
  });
}
