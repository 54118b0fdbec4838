import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { memoryFolder } from '../testing/memory-folder.ts';
import { repeated } from '../testing/repeated.ts';
import { checkMoment, checkOutcome } from './check-outcome.ts';
import type { MetricSums } from './metric-sums.ts';
import { arrangeScenario } from './scenario.ts';
import { SimulatedCluster } from './simulated-cluster.ts';

const { HALOGRID_SIMULATION_SEED, HALOGRID_SIMULATION_RUNS } = process.env;
const firstSeed = Number(HALOGRID_SIMULATION_SEED ?? Math.floor(Math.random() * 2 ** 31));
const runs = Number(HALOGRID_SIMULATION_RUNS ?? (HALOGRID_SIMULATION_SEED ? 1 : repeated(100)));

/** Plays one schedule; returns what came of it and when. */
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

/** The first schedule that goes wrong, with what repeats it. */
async function findFailure(): Promise<Error | undefined> {
  for (let seed = firstSeed; seed < firstSeed + runs; seed++) {
    try {
      await simulate(seed);
    } catch (error) {
      const again = `HALOGRID_SIMULATION_SEED=${seed} node --test apps/coordinator/src/simulation/simulation.test.ts`;
      return new Error(`Seed ${seed}: ${(error as Error).message}\nRepeat it with: ${again}`, { cause: error });
    }
  }
  return undefined;
}

// Before the first test, because from then on node:test follows every promise, which takes several times as long.
const failure = await findFailure();

test(`${runs} schedules of faults, each of its own seed, come to the bits of the undisturbed job`, () => {
  assert.ifError(failure);
});

test('a seed decides everything that happens', async () => {
  for (let seed = firstSeed; seed < firstSeed + repeated(1); seed++)
    assert.deepEqual(await simulate(seed), await simulate(seed));
});
