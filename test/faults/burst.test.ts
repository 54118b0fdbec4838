import assert from 'node:assert/strict';
import { linkSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { type Beside, beside, eventually, pause, repeated } from '@halogrid/testing';
import { assertPrompt, fixedWork } from '../adversarial/fixed-work.ts';
import { Cluster } from '../cluster.ts';
import { peakResidentBytes, residentBytes } from '../process-list.ts';
import { scratchFolder } from '../scratch-folder.ts';
import { skip } from './fault-cluster.ts';

// More work than nodes take.

/** How many shards; HALOGRID_FAULT_SHARDS=1000000 takes a minute. */
const shards = Number(process.env.HALOGRID_FAULT_SHARDS ?? repeated(30_000, 100_000));

/**
 * Submitting and cancelling take a fifth of a second, two hundred times the fixed work. Only if they waited for the
 * shards would they take this many times the fixed work.
 */
const waitsTimesWork = 10_000;

let cluster: Cluster | undefined;
after(() => cluster?.stop());

test(`${shards} shards that no node takes: the coordinator answers at once and holds few`, { skip }, async (t) => {
  const folder = scratchFolder();
  const frames = join(folder, 'frames');
  mkdirSync(frames);
  const first = join(frames, '0.pgm');
  writeFileSync(first, Buffer.concat([Buffer.from('P5\n16 16\n255\n'), Buffer.alloc(256, 7)]));
  // A new file now and then, because some file systems allow at most 65,000 links to a file.
  for (let i = 1; i < shards; i++) {
    if (i % 50_000 === 0) writeFileSync(join(frames, `${i}.pgm`), readFileSync(first));
    else linkSync(join(frames, `${i - (i % 50_000)}.pgm`), join(frames, `${i}.pgm`));
  }
  const started = await Cluster.start({ nodes: 0 });
  cluster = started;
  const pid = started.coordinator.pidsOf('coordinator')[0]!;
  const before = residentBytes(pid)!;

  await fixedWork();
  let jobId = '';
  const submitting = await beside(async () => {
    jobId = await started.jobs.submit({ sources: [frames], out: join(folder, 'out'), batchFrames: 1 });
  }, fixedWork);
  const answers: Beside[] = [];
  await eventually('the planner to have gone as far ahead as it may', async () => {
    for (let i = 0; i < 20; i++) answers.push(await beside(() => started.job(jobId), fixedWork));
    const { counts } = await started.job(jobId);
    const planned = counts!.sources;
    await pause(500);
    return planned > 0 && (await started.job(jobId)).counts!.sources === planned;
  });
  const grown = (peakResidentBytes(pid)! - before) / 2 ** 20;
  t.diagnostic(`submitted in ${submitting.ms.toFixed(0)} ms; ${assertPrompt(answers)}; ${grown.toFixed(0)} MB more`);
  assert.ok(submitting.ms < waitsTimesWork * submitting.controlMs, `Submitting took ${submitting.ms} ms`);
  // 77 bytes per shard, and the shards that are planned ahead of the nodes; the rest is uncollected garbage.
  assert.ok(grown < 300 + shards / 5_000, `The coordinator holds ${grown} MB more`);

  const cancelling = await beside(() => started.jobs.cancel(jobId), fixedWork);
  assert.ok(cancelling.ms < waitsTimesWork * cancelling.controlMs, `Cancelling took ${cancelling.ms} ms`);
});
