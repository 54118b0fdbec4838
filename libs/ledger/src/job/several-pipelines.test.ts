import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { Shard } from '@halogrid/jobs/shard';
import { createPipeline, specifiedOperations } from '@halogrid/kernels';
import type { JobSpec } from '@halogrid/proto';
import { memoryFolder, repeated } from '@halogrid/testing';
import fc from 'fast-check';
import { InvalidResultError } from '../checks/check-answer.ts';
import type { Ledger, ShardCommit } from '../ledger/ledger.ts';
import { MemoryRegistry } from '../registry/memory-registry.ts';
import {
  asSent,
  jobId,
  pipeline as lbp,
  planOf,
  resultsOf,
  shardsOf,
  spec as single,
} from '../testing/ledger-scene.ts';
import { settledDigest, settledSources, shapesOf } from '../testing/memory-parts.ts';
import { openLogLedger } from '../testing/open-log-ledger.ts';

const folder = await mkdtemp(join(memoryFolder, 'halogrid-pipelines-'));
after(() => rm(folder, { recursive: true, force: true }));

const uniform = createPipeline([{ kernel: 'lbp', parameters: { labels: 'uniform' }, border: 'zero' }]);
const pipelines = { plain: lbp, uniform };
const named = Object.entries(pipelines).map(([name, pipeline]) => {
  return { name, pipeline: { operations: specifiedOperations(pipeline) }, op: [] };
});
const both: JobSpec = { ...single, pipeline: undefined, pipelines: { named } };

let ledgers = 0;
/** A ledger over the registry, with logs in a folder of that name. */
const open = (registry: MemoryRegistry, name: string) => openLogLedger(join(folder, name), registry);

/** The answer of a node that computes only the second pipeline: the same counts in fewer bins. */
function uniformCommit(commit: ShardCommit): ShardCommit {
  const results = commit.results.map((result) => {
    const bins = new Array<number>(uniform.bins).fill(0);
    for (let i = 0; i < result.bins.length; i++) bins[i % bins.length]! += result.bins[i]!;
    return { ...result, bins };
  });
  return { ...commit, results };
}

/** The same answer, where every other file states when it was captured. */
function statingTimes(commit: ShardCommit): ShardCommit {
  const results = commit.results.map((result) => {
    return result.source % 2 === 0 ? { ...result, captured: { localMs: result.source * 1000 } } : result;
  });
  return { ...commit, results };
}

/** The answer of a node that computes both pipelines. Only the result of the first pipeline has the capture time. */
function bothCommit(commit: ShardCommit): ShardCommit {
  const others = uniformCommit(commit).results.map(({ captured: _, ...result }) => ({ ...result, pipeline: 1 }));
  return { ...commit, results: [...commit.results, ...others] };
}

async function foundBy(ledger: Ledger, spec: JobSpec) {
  const results = await ledger.results(jobId);
  const settled = await ledger.settled(jobId, 0, 99);
  return {
    digest: settledDigest(spec, settled),
    parts: (results.parts ?? [{ results }]).map(({ results: { counted, bins, job } }, part) => ({
      counted,
      bins,
      counts: { ...job.counts, attempts: 0 },
      sources: [...settledSources(settled, shapesOf(spec), part)],
    })),
  };
}

const sizes = fc.array(
  fc.record({ width: fc.integer({ min: 1, max: 12 }), height: fc.integer({ min: 1, max: 12 }), broken: fc.boolean() }),
  { minLength: 1, maxLength: 6 },
);

test('property: each pipeline of a job with two has the results of a job of its own, in any order and with a crash between', async () => {
  await fc.assert(
    fc.asyncProperty(
      sizes,
      fc.integer({ min: 1, max: 6 }),
      fc.integer({ min: 1, max: 3 }),
      fc.infiniteStream(fc.nat()),
      fc.nat(20),
      async (sources, tilePx, batch, random, crashAfter) => {
        const plan = planOf(sources, tilePx, batch);
        const broken = new Set(sources.flatMap((source, i) => (source.broken ? [i] : [])));
        const shards = shardsOf(plan);
        const run = async (spec: JobSpec, toCommit: (commit: ShardCommit) => ShardCommit, crash = Infinity) => {
          const registry = new MemoryRegistry();
          const name = String(ledgers++);
          let ledger = await open(registry, name);
          await ledger.createJob({ jobId, spec, submittedMs: 0 });
          await ledger.addPlan(jobId, plan, true);
          const left: Shard[] = [...shards];
          for (let done = 0; left.length > 0; done++) {
            if (done === crash) {
              await ledger.close();
              ledger = await open(registry, name);
              await ledger.resume(jobId);
            }
            const next = left.splice(crash === Infinity ? 0 : random.next().value % left.length, 1)[0]!;
            const commit = asSent(toCommit(statingTimes(resultsOf(next, plan, broken))), next, shapesOf(spec));
            assert.equal(await ledger.commit({ ...commit, epoch: ledger.epoch }), 'committed');
          }
          const results = await foundBy(ledger, spec);
          await ledger.close();
          return results;
        };
        const together = await run(both, bothCommit, crashAfter);
        const alone = [
          await run(single, (commit) => commit),
          await run({ ...single, pipeline: named[1]!.pipeline }, uniformCommit),
        ];
        assert.deepEqual(
          together.parts,
          alone.map(({ parts }) => parts[0]),
        );
        const lines = named.map(({ name }, i) => `${name} ${alone[i]!.digest}\n`).join('');
        assert.equal(together.digest, hash('sha256', `halogrid digests 1\n${lines}`));
      },
    ),
    { numRuns: repeated(10, 150) },
  );
});

const size = { width: 4, height: 2 };
const plan = planOf([size], 2, 1);
const [shard] = shardsOf(plan) as [Shard];
const good = resultsOf(shard, plan);
const wrong: [what: string, change: (commit: ShardCommit) => ShardCommit, why: RegExp][] = [
  ['without one of the pipelines', (commit) => commit, /source 0 .*is not answered/i],
  [
    'of a pipeline that the job has not',
    (commit) => ({ ...bothCommit(commit), results: [...commit.results, { ...commit.results[0]!, pipeline: 2 }] }),
    /pipeline 2, which the job has not/,
  ],
  [
    'of two sizes',
    (commit) => {
      const [first, second] = bothCommit(commit).results as [
        ShardCommit['results'][number],
        ShardCommit['results'][number],
      ];
      const turned = { width: 8, height: 1 };
      return { ...commit, results: [first, { ...second, size: turned, rect: { x: 0, y: 0, ...turned } }] };
    },
    /8 x 1 but was planned as 4 x 2/,
  ],
];
for (const [what, change, why] of wrong) {
  test(`an answer ${what} is refused, and changes nothing`, async () => {
    const ledger = await open(new MemoryRegistry(), String(ledgers++));
    await ledger.createJob({ jobId, spec: both, submittedMs: 0 });
    await ledger.addPlan(jobId, plan, true);
    await assert.rejects(ledger.commit(change(good)), (error: Error) => {
      assert.ok(error instanceof InvalidResultError);
      assert.match(error.message, why);
      return true;
    });
    assert.equal(await ledger.commit(bothCommit(good)), 'committed');
    await ledger.close();
  });
}
