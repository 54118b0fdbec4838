// node test/soak/soak.ts [--hours H | --minutes M] [--seed N] [--postgres BIN] Runs jobs on a cluster for hours while
// its processes are killed and stopped. Ends with exit code 1 and names the seed if a result differs from the
// undisturbed job, a job hangs, or a coordinator grows.
import assert from 'node:assert/strict';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { eventually } from '@halogrid/testing';
import { SeededRandom } from '../../apps/coordinator/src/testing/simulation/seeded-random.ts';
import { connectJobs } from '../jobs-client.ts';
import { hasProc } from '../process-list.ts';
import { readJson } from '../results.ts';
import { scratchFolder } from '../scratch-folder.ts';
import { describeFault, disturb, type Fault, planFaults } from './disturb.ts';
import { growthOf, type Usage } from './growth.ts';
import { ledgerFile, SoakCluster } from './soak-cluster.ts';
import { readSoakOutcome, type SoakOutcome, type SoakWork, writeSoakWorks } from './soak-works.ts';

const { values } = parseArgs({
  options: {
    hours: { type: 'string' },
    minutes: { type: 'string' },
    seed: { type: 'string' },
    postgres: { type: 'string' },
  },
});
const minutes = values.hours ? 60 * Number(values.hours) : Number(values.minutes ?? 3);
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
if (!(minutes > 0) || !Number.isInteger(seed))
  throw new Error('Usage: soak.ts [--hours H | --minutes M] [--seed N] [--postgres BIN]');
if (!hasProc) throw new Error('What processes take is told by /proc, which this machine has not');

/**
 * Coordinators are left alone for this many rounds, and then disturbed for as many, so that some live long enough to
 * show growth.
 */
const calmRounds = 16;

const folder = scratchFolder();
// Exits in order, so that all started processes end and the folder is removed.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
const random = new SeededRandom(seed);
const endMs = performance.now() + minutes * 60_000;
const maxLifeMs = minutes * 60_000 + 30 * 60_000;

/** Resources by the life of a coordinator's process and its role in it. */
const lives = new Map<string, Usage[]>();
const faultCounts = new Map<string, number>();
const jobCounts = new Map<string, number>();
let rounds = 0;

console.log(
  `seed ${seed}: ${minutes} minutes${values.postgres ? ', two coordinators on PostgreSQL' : ', one coordinator on SQLite'}, three nodes`,
);
let failure: unknown;
let lastFaults: readonly Fault[] = [];
const ledger = await openLedger();
const cluster = await SoakCluster.start(ledger.url, maxLifeMs);
try {
  const works = await writeSoakWorks(join(folder, 'sources'), seed);
  const expected = await doJobs(works);
  while (performance.now() < endMs) await playRound(works, expected);
  for (const [life, usage] of lives) {
    const growth = growthOf(usage);
    assert.equal(growth, undefined, `Coordinator ${life} grows by ${growth}`);
  }
} catch (error) {
  failure = error;
} finally {
  await cluster.stop();
  await ledger.remove();
}
printTable();
if (failure) {
  console.error(failure);
  console.error(`The faults of round ${rounds}: ${lastFaults.map(describeFault).join(', ') || 'none'}`);
  console.error(
    `Round ${rounds} failed. Again: node test/soak/soak.ts --minutes ${minutes} --seed ${seed}${values.postgres ? ` --postgres ${values.postgres}` : ''}`,
  );
  process.exitCode = 1;
}

async function openLedger(): Promise<{ url: string; remove(): Promise<void> }> {
  if (!values.postgres) return { url: ledgerFile(folder), remove: async () => {} };
  // The module reads it when it is loaded.
  process.env.HALOGRID_TEST_POSTGRES = values.postgres;
  const { PostgresServer } = await import('@halogrid/ledger/testing-postgres-server');
  const server = await PostgresServer.start();
  return { url: await server.createDatabase(), remove: () => server.remove() };
}

/** Runs every job once while `meanwhile` runs; resolves with the outcomes by name. */
async function doJobs(works: readonly SoakWork[], meanwhile?: () => Promise<void>): Promise<Map<string, SoakOutcome>> {
  const leader = await cluster.heal();
  const jobs = connectJobs(leader.address);
  const outs = new Map(works.map(({ name }) => [name, join(folder, 'out', name)]));
  for (const { name, request } of works) await jobs.submit({ ...request, out: outs.get(name)! });
  jobs.close();
  await meanwhile?.();
  // job.json says how a job ended, for any coordinator.
  const areOver = (): boolean => {
    cluster.checkNodes();
    return [...outs.values()].every(hasEnded);
  };
  await eventually(`${[...outs.keys()].join(', ')} to end`, areOver);
  const outcomes = new Map([...outs].map(([name, out]) => [name, readSoakOutcome(out)]));
  rmSync(join(folder, 'out'), { recursive: true });
  return outcomes;
}

function hasEnded(out: string): boolean {
  // The scratch folder is removed after job.json is written.
  if (!existsSync(join(out, 'job.json')) || existsSync(join(out, '.halogrid'))) return false;
  return /complete|failed|cancelled/.test(readJson(out, 'job.json').state);
}

async function playRound(works: readonly SoakWork[], expected: Map<string, SoakOutcome>): Promise<void> {
  rounds++;
  const startMs = performance.now();
  const always = random.pick(works);
  const chosen = works.filter((work) => random.chance(0.6) || work === always);
  const faults = planFaults(random, Math.floor((rounds - 1) / calmRounds) % 2 === 1);
  lastFaults = faults;
  const found = await doJobs(chosen, () => disturb(cluster, faults));
  for (const [name, outcome] of found) {
    assert.deepEqual(outcome, expected.get(name), `The job ${name} differs in round ${rounds}`);
    count(jobCounts, name);
  }
  for (const { kind } of faults) count(faultCounts, kind);
  const leader = await cluster.heal();
  for (const [i, coordinator] of cluster.coordinators.entries()) {
    const usage = coordinator.usage();
    if (!usage) continue;
    // A standby that begins to lead opens more files, which is not growth, so a new role counts as a new life.
    const life = `${i + 1}, life ${coordinator.life}, ${coordinator === leader ? 'leading' : 'standing by'}`;
    lives.set(life, [...(lives.get(life) ?? []), { round: rounds, ...usage }]);
  }
  const { bytes, descriptors } = leader.usage()!;
  const seconds = ((performance.now() - startMs) / 1000).toFixed(1).padStart(5);
  const usage = `leader ${cluster.coordinators.indexOf(leader) + 1}: ${Math.round(bytes / 1e6)} MB, ${descriptors} descriptors`;
  console.log(
    `round ${rounds} in ${seconds} s, the same: ${[...found.keys()].join(' ') || '-'}; ${usage}; ${faults.map(describeFault).join(', ') || 'no fault'}`,
  );
}

function count(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function printTable(): void {
  const tell = (counts: Map<string, number>): string =>
    [...counts].map(([key, n]) => `${key} ${n}`).join(', ') || 'none';
  console.log(`\nrounds       ${rounds}\njobs         ${tell(jobCounts)}\nfaults       ${tell(faultCounts)}`);
  for (const [life, usage] of lives) {
    const [first, last] = [usage[0]!, usage.at(-1)!];
    const memory = `${Math.round(first.bytes / 1e6)} to ${Math.round(last.bytes / 1e6)} MB`;
    const descriptors = `${first.descriptors} to ${last.descriptors} descriptors`;
    console.log(`coordinator ${life}: rounds ${first.round} to ${last.round}, ${memory}, ${descriptors}`);
  }
  console.log(`result       ${failure ? 'FAILED' : 'the same'}`);
}
