import assert from 'node:assert/strict';
import { rename, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { ScriptedNode } from './services/testing/scripted-node.ts';
import { setStages, specOf, submit, writeImages } from './testing/coordinator-stage.ts';
import { answer, complete, partsIn, readOutput, untilKept } from './testing/lost-parts.ts';

// Results that a job keeps from the one before in its folder: the coordinator itself reads them.

/** A folder with an output of three images, and a coordinator that may be started again. */
async function setOutput(t: TestContext) {
  const { folder, start } = await setStages(t);
  const sources = await writeImages(folder, 3);
  const spec = specOf(folder, sources);
  const first = await start();
  const node = await ScriptedNode.attach(first.coordinator.grpcPort, { nodeId: 'n' });
  const { jobId } = await submit(first.jobs, spec);
  for (const _ of sources) await answer(node, await node.next('lease'));
  await complete(first, jobId);
  return { folder, sources, spec, first, start, node, out: join(folder, 'out') };
}

test('a job that keeps everything needs no node', async (t) => {
  const { spec, first, start, out } = await setOutput(t);
  const before = await readOutput(out);
  await first.stop();
  const second = await start();
  const { jobId } = await submit(second.jobs, spec);
  const { counts } = await complete(second, jobId);
  assert.deepEqual([counts!.kept, counts!.frames, counts!.shards, counts!.attempts], [3, 3, 0, 0]);
  assert.deepEqual(await readOutput(out), before);
});

test('a restarted coordinator has the kept results, and reads lost ones again', async (t) => {
  const { sources, spec, first, start, node, out } = await setOutput(t);
  const before = await readOutput(out);
  // The source is computed again, and its results are the same.
  await utimes(new URL(sources[1]!), 1000, 1000);
  const { jobId } = await submit(first.jobs, spec);
  const held = await node.next('lease');
  await untilKept(first, jobId, 2);
  await first.stop();
  await rename(partsIn(spec), `${partsIn(spec)}-gone`);
  const second = await start();
  await untilKept(second, jobId, 2);
  const again = new ScriptedNode(second.coordinator.grpcPort);
  const { shard, attempt, epoch } = held;
  again.hello({ nodeId: 'n', held: [{ jobId, shard, attempt, epoch, verify: false, inPart: false }] });
  await answer(again, { ...held, epoch: (await again.next('welcome')).epoch });
  const { counts } = await complete(second, jobId);
  assert.deepEqual([counts!.kept, counts!.shards], [2, 1]);
  const { 'sources.jsonl': _, 'job.json': job, ...files } = await readOutput(out);
  const { 'sources.jsonl': __, 'job.json': was, ...others } = before;
  assert.deepEqual(files, others);
  assert.equal((job as { digest: string }).digest, (was as { digest: string }).digest);
});
