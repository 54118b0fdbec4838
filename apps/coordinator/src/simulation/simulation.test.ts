import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { checkMoment, checkOutcome } from './check-outcome.ts';
import { arrangeScenario } from './scenario.ts';
import { SimulatedCluster } from './simulated-cluster.ts';

const firstSeed = Number(process.env.HALOGRID_SIMULATION_SEED ?? Math.floor(Math.random() * 2 ** 31));
const runs = Number(process.env.HALOGRID_SIMULATION_RUNS ?? (process.env.HALOGRID_SIMULATION_SEED ? 1 : 1000));

const folder = await mkdtemp(join(tmpdir(), 'halogrid-simulation-'));
after(() => rm(folder, { recursive: true, force: true }));

async function simulate(seed: number): Promise<void> {
  const cluster = new SimulatedCluster({
    seed,
    spoolPath: (jobId) => join(folder, `${seed}-${jobId}`),
    commitMs: seed % 3 === 0 ? 30 : 0,
  });
  try {
    arrangeScenario(cluster, seed);
    await cluster.untilEnded(() => checkMoment(cluster));
    await checkOutcome(cluster);
  } finally {
    await cluster.close();
  }
}

test(`${runs} schedules of faults, each of its own seed, come to the bits of the undisturbed job`, async () => {
  for (let seed = firstSeed; seed < firstSeed + runs; seed++) {
    try {
      await simulate(seed);
    } catch (error) {
      const again = `HALOGRID_SIMULATION_SEED=${seed} node --test apps/coordinator/src/simulation/simulation.test.ts`;
      throw new Error(`Seed ${seed}: ${(error as Error).message}\nRepeat it with: ${again}`, { cause: error });
    }
  }
});
