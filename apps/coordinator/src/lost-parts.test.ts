import assert from 'node:assert/strict';
import { cp, mkdir, readdir, readFile, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { JobSpec, Lease } from '@halogrid/proto';
import { eventually } from '@halogrid/testing';
import { mostLosses } from './dispatch/lost-parts.ts';
import { ScriptedNode } from './services/testing/scripted-node.ts';
import { metricsOf, type Stage, setStage, specOf, submit, writeImages } from './testing/coordinator-stage.ts';
import { answer, complete, ended, partsIn, readOutput, untilDone, untilKept } from './testing/lost-parts.ts';

// Parts are lost or damaged after their commit, before the end of their job.

const images = 4;

/**
 * Damages a part, given its folder, the folder of another shard's part, a part of another job, and a folder outside the
 * output.
 */
type Damage = (part: string, other: string, foreign: string, outside: string) => Promise<unknown>;

const features = (part: string): string => join(part, 'features.parquet');

async function change(path: string, act: (bytes: Buffer) => void): Promise<void> {
  const bytes = await readFile(path);
  act(bytes);
  await writeFile(path, bytes);
}

/** Each damage, and how many shards are computed again. */
const damages: Record<string, [again: number, Damage]> = {
  removed: [1, (part) => rm(part, { recursive: true })],
  'without one of its files': [1, (part) => rm(features(part))],
  cut: [1, (part) => truncate(features(part), 100)],
  empty: [1, (part) => truncate(join(part, 'sources.parquet'))],
  'of another byte': [1, (part) => change(features(part), (bytes) => (bytes[100]! ^= 1))],
  'with pages that state gigabytes': [1, (part) => change(features(part), (bytes) => bytes.fill(0xff, 6, 11))],
  'replaced by the part of another shard': [1, (part, other) => cp(other, part, { recursive: true })],
  'replaced by the part of another job': [1, (part, _, foreign) => cp(foreign, part, { recursive: true })],
  'a link to a folder outside': [
    1,
    async (part, _, __, outside) => {
      await rename(part, outside);
      await symlink(outside, part);
    },
  ],
  'a file': [
    1,
    async (part) => {
      await rm(part, { recursive: true });
      await writeFile(part, 'no part');
    },
  ],
  'gone, as all of them': [images - 1, (part) => rm(join(part, '..'), { recursive: true })],
  'next to remains of a killed writer': [
    0,
    async (part) => {
      await mkdir(`${part.slice(0, -12)}0123456789ab.tmp`);
      await writeFile(join(`${part.slice(0, -12)}0123456789ab.tmp`, 'features.parquet'), 'half of a part');
    },
  ],
  'with a footer that lies': [
    0,
    (part) => change(features(part), (bytes) => bytes.fill(0x15, bytes.length - 40, bytes.length - 4)),
  ],
};

/** Has the node answer its next leases rightly; resolves with the folders of the parts that it writes. */
async function work(node: ScriptedNode, spec: JobSpec, leases: number): Promise<string[]> {
  const parts: string[] = [];
  for (let n = 0; n < leases; n++) parts.push(join(partsIn(spec), await answer(node, await node.next('lease'))));
  return parts;
}

/** Resolves with the folder of a job's only part, once that is complete. */
const onlyPart = (spec: JobSpec): Promise<string> =>
  eventually('a part', async () => {
    const [part, ...others] = await readdir(partsIn(spec)).catch((): string[] => []);
    assert.deepEqual(others, []);
    return part !== undefined && !part.endsWith('.tmp') && join(partsIn(spec), part);
  });

async function undisturbed(stage: Stage, node: ScriptedNode, spec: JobSpec, shards: number) {
  const { jobId } = await submit(stage.jobs, spec);
  await work(node, spec, shards);
  await complete(stage, jobId);
  return readOutput(new URL(spec.out).pathname);
}

test('a part that is lost or damaged before the end of its job is computed again, and the output is the same', async (t) => {
  const stage = await setStage(t);
  const { coordinator, jobs, folder } = stage;
  const sources = await writeImages(folder, images);
  const specIn = (name: string, more?: Partial<JobSpec>) => specOf(join(folder, name), sources, more);
  const node = await ScriptedNode.attach(coordinator.grpcPort);
  const expected = await undisturbed(stage, node, specIn('undisturbed'), images);
  const otherPipeline = { operations: [{ kernel: 'ldp', parameters: {}, border: '' }] };
  const otherSpec = specIn('foreign', { pipeline: otherPipeline });
  const { jobId: other } = await submit(jobs, otherSpec);
  const [foreign] = (await work(node, otherSpec, images - 1)) as [string];
  const last = await node.next('lease');
  for (const [i, [what, [again, damage]]] of Object.entries(damages).entries()) {
    const spec = specIn(`${i}`);
    const { jobId } = await submit(jobs, spec);
    const parts = await work(node, spec, images - 1);
    await untilDone(stage, jobId, images - 1);
    await damage(parts[1]!, parts[0]!, foreign, join(folder, 'outside'));
    await work(node, spec, 1 + again);
    const { counts } = await complete(stage, jobId);
    assert.deepEqual([counts!.shardsDone, counts!.attempts], [images, images + again], what);
    assert.deepEqual(await readOutput(join(folder, `${i}`, 'out')), expected, what);
  }
  await answer(node, last);
  await complete(stage, other);
});

test('all shards whose parts are gone are leased again at once, and blame their node once', async (t) => {
  const stage = await setStage(t);
  const { coordinator, jobs, folder } = stage;
  const sources = await writeImages(folder, 8);
  const first = await ScriptedNode.attach(coordinator.grpcPort, { nodeId: 'first', name: 'first' });
  const expected = await undisturbed(stage, first, specOf(join(folder, 'undisturbed'), sources), 8);
  const spec = specOf(folder, sources);
  const { jobId } = await submit(jobs, spec);
  await work(first, spec, 7);
  const last = await first.next('lease');
  await untilDone(stage, jobId, 7);
  const second = await ScriptedNode.attach(coordinator.grpcPort, { nodeId: 'second', name: 'second' });
  await rm(partsIn(spec), { recursive: true });
  await answer(first, last);
  // It gets as many as it may hold, more than one, before it answers any.
  const again: Lease[] = [];
  while (again.length < 3) again.push(await second.next('lease'));
  // How many it holds later depends on its rate compared with the other node's.
  for (let n = 0; n < 7; n++) {
    if (n === again.length) again.push(await second.next('lease'));
    await answer(second, again[n]!);
  }
  assert.deepEqual(
    again.map(({ shard, attempt }) => [shard, attempt]).sort(([a], [b]) => a! - b!),
    [0, 1, 2, 3, 4, 5, 6].map((shard) => [shard, 2]),
  );
  const { counts } = await complete(stage, jobId);
  assert.equal(counts!.attempts, 15);
  assert.match(await metricsOf(stage), /^halogrid_nodes_set_aside_total 0$/m);
  assert.deepEqual(await readOutput(join(folder, 'out')), expected);
});

test('a part that is found lost while others are computed is computed again before the end', async (t) => {
  const stage = await setStage(t);
  const sources = await writeImages(stage.folder, images);
  // Enough counts for the tables to be written while results come.
  const specIn = (name: string) => specOf(join(stage.folder, name), sources, { grid: { rows: 16, columns: 16 } });
  const node = await ScriptedNode.attach(stage.coordinator.grpcPort);
  const expected = await undisturbed(stage, node, specIn('undisturbed'), images);
  const spec = specIn('disturbed');
  const { jobId } = await submit(stage.jobs, spec);
  const leases: Lease[] = [];
  while (leases.length < images) leases.push(await node.next('lease'));
  const [first, second, third, fourth] = leases as [Lease, Lease, Lease, Lease];
  const part = join(partsIn(spec), await answer(node, second));
  await answer(node, third);
  await untilDone(stage, jobId, 2);
  await rm(part, { recursive: true });
  await answer(node, first);
  const again = await node.next('lease');
  assert.deepEqual([again.shard, again.attempt], [second.shard, 2]);
  await answer(node, again);
  await answer(node, fourth);
  await complete(stage, jobId);
  assert.deepEqual(await readOutput(new URL(spec.out).pathname), expected);
});

test('if a disk keeps nothing, the job fails with a sentence, and goes on when the disk keeps data again', async (t) => {
  const stage = await setStage(t);
  const { coordinator, jobs, folder } = stage;
  const sources = await writeImages(folder, 2);
  const node = await ScriptedNode.attach(coordinator.grpcPort, { name: 'forgetful' });
  const expected = await undisturbed(stage, node, specOf(join(folder, 'undisturbed'), sources), 2);
  const spec = specOf(folder, sources);
  const { jobId } = await submit(jobs, spec);
  await work(node, spec, 1);
  await untilDone(stage, jobId, 1);
  const held = await node.next('lease');
  await rm(partsIn(spec), { recursive: true });
  await answer(node, held);
  for (let times = 1; times < mostLosses; times++) {
    const lease = await node.next('lease');
    assert.deepEqual([lease.shard, lease.attempt], [0, 1 + times]);
    const part = await answer(node, lease, (found) => {
      // The part is gone before the answer.
      return { ...found, found: { ...found.found!, part: `${found.found!.part!.slice(0, -12)}0123456789ab` } };
    });
    assert.ok(part);
  }
  const { error } = await ended(stage, jobId);
  assert.match(
    error,
    /^Results of one shard were lost 4 times, written by forgetful: Part '.*' cannot be read: ENOENT/,
  );
  assert.match(error, /see to it that all nodes and the coordinator have the same folder '.*out'/);
  const again = await submit(jobs, spec);
  assert.equal(again.jobId, jobId);
  await node.next('bring');
  await work(node, spec, 1);
  await complete(stage, jobId);
  assert.deepEqual(await readOutput(join(folder, 'out')), expected);
});

test('if the part of an image in tiles is lost, the job fails and says so, and a new run has the same results', async (t) => {
  const stage = await setStage(t);
  const { coordinator, jobs, folder } = stage;
  const [frame] = (await writeImages(folder, 1)) as [string];
  const image = join(folder, 'a-large.pgm');
  const pixels = Uint8Array.from({ length: 60 * 40 }, (_, p) => (p * p) % 251);
  await writeFile(image, Buffer.concat([Buffer.from('P5\n60 40\n255\n'), pixels]));
  const sources = [pathToFileURL(image).href, frame];
  const node = await ScriptedNode.attach(coordinator.grpcPort);
  const spec = specOf(folder, sources, { tilePx: 32 });
  const plain = specOf(join(folder, 'undisturbed'), sources, { tilePx: 32 });
  const shards = 5;
  const run = async (of: JobSpec, beforeEnd: () => Promise<unknown> = async () => {}) => {
    const { jobId } = await submit(jobs, of);
    const leases = [];
    for (let n = 0; n < shards; n++) {
      const lease = await node.next('lease');
      if (lease.work!.$case === 'frames') leases.push(lease);
      else await answer(node, lease).catch(() => {});
    }
    await untilDone(stage, jobId, shards - 1);
    await beforeEnd();
    for (const lease of leases) await answer(node, lease);
    return ended(stage, jobId);
  };
  await run(plain);
  const expected = await readOutput(join(folder, 'undisturbed', 'out'));
  const { error } = await run(spec, async () => {
    await rm(await onlyPart(spec), { recursive: true });
  });
  assert.match(error, /^Part '.*' cannot be read: ENOENT.*; the results in it are lost: run the job again$/);
  assert.deepEqual(await readdir(join(folder, 'out')), ['job.json']);
  assert.equal((await run(spec)).error, '');
  assert.deepEqual(await readOutput(join(folder, 'out')), expected);
});

test('if kept results of an earlier job are lost before the end, they are read again', async (t) => {
  const stage = await setStage(t);
  const { coordinator, jobs, folder } = stage;
  const input = join(folder, 'in');
  await mkdir(input);
  const move = async (from: number, to: number) => {
    for (let i = from; i < to; i++) await rename(join(folder, `image-${i}.pgm`), join(input, `image-${i}.pgm`));
  };
  await writeImages(folder, 3);
  await move(0, 2);
  const node = await ScriptedNode.attach(coordinator.grpcPort);
  const sources = [pathToFileURL(`${input}/`).href];
  const spec = specOf(folder, sources);
  await undisturbed(stage, node, spec, 2);
  await move(2, 3);
  const expected = await undisturbed(stage, node, specOf(join(folder, 'undisturbed'), sources), 3);
  const { jobId } = await submit(jobs, spec);
  const lease = await node.next('lease');
  await untilKept(stage, jobId, 2);
  await rm(partsIn(spec), { recursive: true });
  await answer(node, lease);
  const { counts } = await complete(stage, jobId);
  assert.equal(counts!.kept, 2);
  assert.deepEqual(await readOutput(join(folder, 'out')), expected);
});
