import assert from 'node:assert/strict';
import { linkSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { Cluster } from '../cluster.ts';
import { peakResidentBytes, residentBytes } from '../process-list.ts';
import { scratchFolder } from '../scratch-folder.ts';
import { eventually, skip } from './fault-cluster.ts';

// More work than anybody takes.

/** A million take a minute: HALOGRID_FAULT_SHARDS=1000000. */
const shards = Number(process.env.HALOGRID_FAULT_SHARDS ?? 100_000);

/** Far from the half second after which people call a page slow, for half of the answers: tests share the cores. */
const promptMs = 100;

/** Submitting and cancelling take a fifth of a second. This long they take only where they wait for the shards. */
const waitsForShardsMs = 30_000;

let cluster: Cluster | undefined;
after(() => cluster?.stop());

test(`${shards} shards that no node takes: the coordinator answers at once and holds few`, {
  skip,
  timeout: 300_000,
}, async (t) => {
  const folder = scratchFolder();
  const frames = join(folder, 'frames');
  mkdirSync(frames);
  const first = join(frames, '0.pgm');
  writeFileSync(first, Buffer.concat([Buffer.from('P5\n16 16\n255\n'), Buffer.alloc(256, 7)]));
  // A file has 65,000 names at most on some file systems.
  for (let i = 1; i < shards; i++) {
    if (i % 50_000 === 0) writeFileSync(join(frames, `${i}.pgm`), readFileSync(first));
    else linkSync(join(frames, `${i - (i % 50_000)}.pgm`), join(frames, `${i}.pgm`));
  }
  const started = await Cluster.start({ nodes: 0 });
  cluster = started;
  const pid = started.coordinator.pidsOf('coordinator')[0]!;
  const before = residentBytes(pid)!;

  const startMs = performance.now();
  const jobId = await started.jobs.submit({ sources: [frames], out: join(folder, 'out'), batchFrames: 1 });
  const submitMs = performance.now() - startMs;
  const answersMs: number[] = [];
  await eventually('the planner to have gone as far ahead as it may', async () => {
    for (let i = 0; i < 20; i++) {
      const askedMs = performance.now();
      await started.job(jobId);
      answersMs.push(performance.now() - askedMs);
      await delay(10);
    }
    const { counts } = await started.job(jobId);
    const planned = counts!.sources;
    await delay(500);
    return planned > 0 && (await started.job(jobId)).counts!.sources === planned;
  });
  answersMs.sort((a, b) => a - b);
  const at = (share: number): number => answersMs[Math.floor(share * (answersMs.length - 1))]!;
  const grown = (peakResidentBytes(pid)! - before) / 2 ** 20;
  t.diagnostic(
    `submitted in ${submitMs.toFixed(0)} ms; answers in ${at(0.5).toFixed(1)} ms, 99 of 100 in ${at(0.99).toFixed(1)}; ` +
      `${grown.toFixed(0)} MB more`,
  );
  assert.ok(submitMs < waitsForShardsMs, `Submitting took ${submitMs} ms`);
  assert.ok(at(0.5) < promptMs, `Half of the answers took more than ${at(0.5)} ms`);
  // 77 bytes a shard, and what is ahead of the nodes; the rest is garbage.
  assert.ok(grown < 300 + shards / 5_000, `The coordinator holds ${grown} MB more`);

  const cancelMs = performance.now();
  await started.jobs.cancel(jobId);
  const cancelledMs = performance.now() - cancelMs;
  assert.ok(cancelledMs < waitsForShardsMs, `Cancelling took ${cancelledMs} ms`);
});
