import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { createPipeline } from '@halogrid/kernels';
import { foundShard } from '@halogrid/ledger/testing-memory-parts';
import type { FoundAnswer, FoundInPart, Lease } from '@halogrid/proto';
import { histogramShape } from '@halogrid/results/histogram-shape';
import { packCounts } from '@halogrid/results/part-sums';
import { PartWriter } from '@halogrid/results/part-writer';
import { ScriptedNode } from './services/testing/scripted-node.ts';
import { metricsOf, setStage, setStages, specOf, submit, writeImages } from './testing/coordinator-stage.ts';
import { answer, complete, ended, partsIn, readOutput, untilDone } from './testing/lost-parts.ts';

// Nodes whose answers differ from the parts that they wrote, or that write after their job has ended.

const bins = 256;

/** The same number of pixels for each channel, but in other bins than they were found in. */
function otherSums({ parts }: FoundInPart): FoundInPart['parts'] {
  return parts.map(({ counted }) => {
    const counts = new Float64Array(bins);
    counts[3] = Number(counted);
    return { counted, sums: packCounts(counts) };
  });
}

const places = (found: FoundInPart, change: object): FoundInPart['places'] =>
  found.places.map(({ sources, features }) => ({ sources, features: { ...features!, ...change } }));

/**
 * Lies of a node about its part, and what follows: the node is sent away (unwanted), its answer is refused, or its
 * results count as lost.
 */
const lies: Record<string, ['unwanted' | 'refused' | 'lost', (found: FoundInPart) => Partial<FoundInPart>]> = {
  'totals differ from its rows': ['unwanted', (found) => ({ parts: otherSums(found) })],
  'pixels differ from its rows': ['unwanted', (found) => ({ pixels: found.pixels + 1 })],
  'the digest differs from its rows': ['unwanted', () => ({ digest: Buffer.alloc(32, 7) })],
  'the digest has too few bytes': ['refused', () => ({ digest: Buffer.alloc(31) })],
  'the part is outside the folder': ['refused', () => ({ part: '../../etc' })],
  'the part has the name of an unfinished one': ['refused', ({ part }) => ({ part: `${part!.slice(4)}.tmp` })],
  'the part has no name': ['refused', () => ({ part: '' })],
  'the part is missing': ['lost', () => ({ part: randomUUID() })],
  'a place is far after the end of the file': ['refused', (found) => ({ places: places(found, { start: 2 ** 52 }) })],
  'a place is after the end of the file': ['lost', (found) => ({ places: places(found, { start: 2 ** 20 }) })],
  'a place has a length of gigabytes': ['lost', (found) => ({ places: places(found, { length: 2 ** 31 }) })],
  'a place has another checksum': ['lost', (found) => ({ places: places(found, { checksum: 1 }) })],
  'there is no place for the pipeline': ['refused', () => ({ places: [] })],
  'there are places for two pipelines': ['refused', (found) => ({ places: [...found.places, ...found.places] })],
  'there is no place for histograms': [
    'refused',
    (found) => ({ places: found.places.map(({ sources }) => ({ sources, features: undefined })) }),
  ],
  'more sources were found than there are': ['refused', () => ({ found: 2 })],
};

test('whatever a node says about its part, the output is the same, and a node that wrote other rows is sent away', async (t) => {
  const images = 2;
  const stage = await setStage(t);
  const { coordinator, jobs, folder } = stage;
  const sources = await writeImages(folder, images);
  const plain = specOf(join(folder, 'undisturbed'), sources);
  const good = await ScriptedNode.attach(coordinator.grpcPort, { nodeId: 'good', name: 'good' });
  const { jobId } = await submit(jobs, plain);
  for (let n = 0; n < images; n++) await answer(good, await good.next('lease'));
  await complete(stage, jobId);
  good.hangUp();
  const expected = await readOutput(join(folder, 'undisturbed', 'out'));
  for (const [nth, [what, [fate, lie]]] of Object.entries(lies).entries()) {
    const spec = specOf(join(folder, `${nth}`), sources);
    const { jobId } = await submit(jobs, spec);
    const liar = await ScriptedNode.attach(coordinator.grpcPort, { nodeId: `liar-${nth}`, name: `liar-${nth}` });
    const leases: Lease[] = [];
    for (let n = 0; n < images; n++) {
      const lease = await liar.next('lease');
      leases.push(lease);
      // The last lease is held until there is another node.
      if (n < images - 1) await answer(liar, lease);
    }
    await untilDone(stage, jobId, images - 1);
    const honest = await ScriptedNode.attach(coordinator.grpcPort, { nodeId: `good-${nth}`, name: `good-${nth}` });
    await answer(liar, leases.at(-1)!, (answered: FoundAnswer) => {
      return { ...answered, found: { ...answered.found!, ...lie(answered.found!) } };
    });
    const lease = await honest.next('lease');
    assert.deepEqual([lease.shard, lease.attempt], [leases.at(-1)!.shard, 2], what);
    await answer(honest, lease);
    await complete(stage, jobId);
    assert.deepEqual(await readOutput(join(folder, `${nth}`, 'out')), expected, what);
    const metrics = await metricsOf(stage);
    assert.equal(metrics.includes(`halogrid_result_mismatches_total{node="liar-${nth}"} 1`), fate === 'unwanted', what);
    if (fate === 'unwanted') {
      const { details } = await liar.over();
      assert.match(details, /It wrote other results of a shard than it had answered/, what);
    }
    liar.hangUp();
    honest.hangUp();
  }
  const refused = Object.values(lies).filter(([fate]) => fate === 'refused').length;
  const metrics = await metricsOf(stage);
  assert.ok(metrics.includes(`halogrid_shards_finished_total{kernel="lbp",outcome="retry"} ${refused}\n`), metrics);
});

test('a node that wakes up late and writes on has a part of its own, which neither its job’s output nor the next job’s has', async (t) => {
  const stage = await setStage(t);
  const { coordinator, jobs, folder } = stage;
  const sources = await writeImages(folder, 2);
  const spec = specOf(folder, sources, { fresh: true });
  const node = await ScriptedNode.attach(coordinator.grpcPort);
  const pipelines = [
    { name: '', shape: histogramShape(createPipeline(spec.pipeline!.operations), { rows: 1, columns: 1 }) },
  ];
  const open = () => PartWriter.create(partsIn(spec), pipelines);
  const found = (lease: Lease) => foundShard(lease.sources, [], [pipelines[0]!.shape]);
  const run = async (meanwhile: () => Promise<unknown>) => {
    const { jobId } = await submit(jobs, spec);
    const [first, second] = [await node.next('lease'), await node.next('lease')];
    await answer(node, first);
    await meanwhile();
    await answer(node, second);
    await complete(stage, jobId);
    return { lease: first, output: await readOutput(join(folder, 'out')) };
  };
  const writers: PartWriter[] = [];
  const { lease, output } = await run(async () => {
    for (let n = 0; n < 2; n++) writers.push(await open());
  });
  const [late, later] = writers as [PartWriter, PartWriter];
  // The late writer has its files open, but the folder is gone.
  await late.add(found(lease));
  await assert.rejects(late.finish(), /ENOENT/);
  await assert.rejects(open(), /ENOENT/);
  assert.deepEqual(await readOutput(join(folder, 'out')), output);
  // By now, another job runs in the folder.
  await run(async () => {
    const before = await readdir(partsIn(spec));
    await later.add(found(lease));
    await assert.rejects(later.finish(), /ENOENT/);
    const own = await open();
    await own.add(found(lease));
    await own.finish();
    assert.deepEqual((await readdir(partsIn(spec))).sort(), [...before, own.id].sort());
  });
  assert.deepEqual(await readOutput(join(folder, 'out')), output);
});

test('a restarted coordinator goes on with the parts that are there, and has missing ones computed again', async (t) => {
  const images = 3;
  const { folder, start } = await setStages(t);
  const spec = specOf(folder, await writeImages(folder, images));
  const plain = { ...spec, out: `${spec.out}-undisturbed` };
  const first = await start();
  const node = await ScriptedNode.attach(first.coordinator.grpcPort, { nodeId: 'n' });
  const parts: string[] = [];
  let jobId = '';
  let held: Lease | undefined;
  for (const each of [plain, spec]) {
    ({ jobId } = await submit(first.jobs, each));
    for (let n = 0; n < images; n++) {
      const lease = await node.next('lease');
      if (each === plain || n < images - 1) parts.push(await answer(node, lease));
      else held = lease;
    }
    if (each === plain) await complete(first, jobId);
    else await untilDone(first, jobId, images - 1);
  }
  await first.stop();
  await rm(join(partsIn(spec), parts.at(-1)!), { recursive: true });
  const second = await start();
  const again = new ScriptedNode(second.coordinator.grpcPort);
  const { shard, attempt, epoch } = held!;
  again.hello({ nodeId: 'n', held: [{ jobId, shard, attempt, epoch, verify: false, inPart: false }] });
  await answer(again, { ...held!, epoch: (await again.next('welcome')).epoch });
  const lease = await again.next('lease');
  assert.deepEqual([lease.shard, lease.attempt], [1, 2]);
  await answer(again, lease);
  const { counts } = await ended(second, jobId);
  assert.equal(counts!.attempts, images + 1);
  assert.deepEqual(await readOutput(join(folder, 'out')), await readOutput(join(folder, 'out-undisturbed')));
});
