import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { memoryFolder, repeated } from '@halogrid/testing';
import { frames, nature } from './create-cluster.ts';
import { findFailure, firstSeed, scheduleRuns } from './find-failure.ts';
import { SeededRandom } from './seeded-random.ts';
import { expectedOf } from './simulated-job.ts';
import { SimulatedLeaders } from './simulated-leaders.ts';

const runs = scheduleRuns(repeated(4));

/**
 * Plays one schedule: coordinators are killed at any moment of a transaction, stand still, or lose their database.
 * Resolves with commits and ends of jobs, with their times.
 */
async function simulate(seed: number): Promise<string[]> {
  const folder = await mkdtemp(join(memoryFolder, 'halogrid-leaders-'));
  const leaders = new SimulatedLeaders({ seed, folder, commitMs: seed % 3 === 0 ? 30 : 0 });
  const random = new SeededRandom(seed ^ 0x1ead);
  const places = random.whole(2, 4);
  try {
    for (let place = 0; place < places; place++) await leaders.start(place);
    for (let i = random.whole(2, 3); i > 0; i--)
      leaders.add(
        nature(`node-${i}`, { latencyMs: random.pick([1, 40]), bytesPerMs: random.pick([0.1, 0.5]) }),
        places,
      );
    for (let i = random.whole(2, 6); i > 0; i--) {
      const shards = random.whole(1, 60);
      const kept = new Set(Array.from({ length: random.pick([0, 0, shards]) }, () => random.whole(0, shards - 1)));
      leaders.submit(frames({ jobId: `job-${i}`, shards, kept }), random.whole(0, places - 1));
    }
    for (let i = random.whole(1, 4); i > 0; i--) {
      const place = random.whole(0, places - 1);
      leaders.clock.after(random.between(50, 9000), () => {
        const what = random.pick(['kill', 'kill', 'pause', 'pause', 'database']);
        // The last place always starts again, so that every job ends.
        if (what === 'kill')
          leaders.kill(place, random.pick([5, 2000, 8000, ...(place < places - 1 ? [undefined] : [])]));
        if (what === 'pause') leaders.pause(place, random.pick([4900, 6100, 9000, 20_000]));
        if (what === 'database') leaders.failStore(random.pick([500, 4000, 8000, 60_000]));
      });
    }
    await leaders.untilEnded();
    for (const job of leaders.jobs.values()) {
      const record = leaders.record(job.jobId);
      assert.equal(record.state, 'complete', `${job.jobId}: ${record.error}`);
      assert.equal(record.digest, expectedOf(job).digest, job.jobId);
      const ofNodes = job.shards - job.kept.size;
      assert.deepEqual([record.counts.shards, record.counts.shardsDone], [ofNodes, ofNodes]);
      for (const [shard, times] of (leaders.commits.get(job.jobId) ?? []).entries()) {
        assert.ok(times === undefined || times <= 1, `${times} results accepted of ${job.jobId}/${shard}`);
      }
    }
    return leaders.history;
  } finally {
    await leaders.close();
    await rm(folder, { recursive: true });
  }
}

const failure = await findFailure('several-leaders.test.ts', runs, simulate);

test(`${runs} schedules of several coordinators that die and stand still have the results of undisturbed jobs, bit for bit`, () => {
  assert.ifError(failure);
});

test('a seed decides everything that happens', async () => {
  for (let seed = firstSeed; seed < firstSeed + repeated(2); seed++)
    assert.deepEqual(await simulate(seed), await simulate(seed));
});

/**
 * Kills the coordinator of a job at that moment; another one may go on with the job. Resolves with the time of the
 * job's end.
 */
async function killAt(ms: number | undefined): Promise<number> {
  const folder = await mkdtemp(join(memoryFolder, 'halogrid-leaders-'));
  const leaders = new SimulatedLeaders({ seed: 1, folder, commitMs: 30 });
  try {
    for (const place of [0, 1]) await leaders.start(place);
    leaders.add(nature('node', {}), 2);
    leaders.submit(frames({ jobId: 'job', shards: 3 }), 0);
    if (ms !== undefined) leaders.clock.after(ms, () => leaders.kill(0, undefined));
    await leaders.untilEnded();
    assert.equal(leaders.record('job').state, 'complete');
    return leaders.clock.monotonicMs();
  } finally {
    await leaders.close();
    await rm(folder, { recursive: true });
  }
}

test('a job ends even if its coordinator is killed at any moment of writing its end', async () => {
  const endMs = await killAt(undefined);
  for (let ms = endMs - 100; ms <= endMs; ms += 5) await killAt(ms);
});

for (const awayMs of [1500, 4000, 8000, 60_000]) {
  test(`a job stays with a coordinator that was cut off together with the database for ${awayMs} ms and comes back long after others`, async () => {
    const folder = await mkdtemp(join(memoryFolder, 'halogrid-leaders-'));
    const leaders = new SimulatedLeaders({ seed: 1, folder, commitMs: 0 });
    try {
      for (const place of [0, 1]) await leaders.start(place);
      leaders.add(nature('node', { bytesPerMs: 0.1 }), 2);
      leaders.submit(frames({ jobId: 'job', shards: 20 }), 0);
      let epoch: number | undefined;
      leaders.clock.after(3500, () => {
        epoch = leaders.memory.jobs.get('job')!.epoch;
        leaders.failStore(awayMs);
        leaders.pause(0, awayMs + 11_000);
      });
      await leaders.untilEnded();
      assert.equal(leaders.record('job').state, 'complete');
      assert.equal(leaders.memory.jobs.get('job')!.epoch, epoch);
    } finally {
      await leaders.close();
      await rm(folder, { recursive: true });
    }
  });
}

test('shards that a node computes while no coordinator leads the job count when another one takes it over', async () => {
  const folder = await mkdtemp(join(memoryFolder, 'halogrid-leaders-'));
  const leaders = new SimulatedLeaders({ seed: 1, folder, commitMs: 0 });
  try {
    for (const place of [0, 1]) await leaders.start(place);
    // One shard a second; the job is led again after five seconds.
    leaders.add(nature('node', { bytesPerMs: 0.1 }), 2);
    const job = frames({ jobId: 'job', shards: 20 });
    leaders.submit(job, 0);
    leaders.clock.after(5000, () => leaders.kill(0, undefined));
    await leaders.untilEnded();
    assert.equal(leaders.record('job').digest, expectedOf(job).digest);
    const computed = leaders.nodes.reduce((sum, { computedBytes }) => sum + computedBytes, 0);
    assert.equal(computed / job.costBytes, 20);
  } finally {
    await leaders.close();
    await rm(folder, { recursive: true });
  }
});
