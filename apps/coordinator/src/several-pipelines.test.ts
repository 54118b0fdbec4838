import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { copyFile, mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { type JobSpec, JobState } from '@halogrid/proto';
import { ScriptedNode } from './services/testing/scripted-node.ts';
import { complete, setStage, specOf, submit, watchToEnd, writeImages } from './testing/coordinator-stage.ts';

const chains = {
  plain: [{ kernel: 'lbp', parameters: {}, border: '' }],
  derivative: [{ kernel: 'ldp', parameters: { order: '2' }, border: 'zero' }],
  variances: [{ kernel: 'lbp', parameters: { labels: 'var' }, border: 'zero' }],
};
const named = Object.entries(chains).map(([name, operations]) => ({ name, pipeline: { operations }, op: [] }));

/** An option of all jobs here, so that their features have times. */
const captured = { from: 'mtime', zone: '' };

/**
 * A coordinator with a node, and two images in a folder; `run` runs a job with this many shards and resolves with its
 * output folder.
 */
async function setJobs(t: TestContext) {
  const { coordinator, jobs, folder } = await setStage(t);
  const node = await ScriptedNode.attach(coordinator.grpcPort);
  t.after(() => node.hangUp());
  const images = join(folder, 'images');
  await mkdir(images);
  await writeImages(images, 2);
  const run = async (name: string, more: Partial<JobSpec>, shards: number): Promise<string> => {
    const out = pathToFileURL(join(folder, name)).href;
    const { jobId } = await submit(jobs, specOf(folder, [pathToFileURL(images).href], { ...more, captured, out }));
    for (let done = 0; done < shards; done++) await complete(node, await node.next('lease'));
    const { state, error } = (await watchToEnd(jobs, jobId)).at(-1)!;
    assert.equal(state, JobState.COMPLETE, error);
    return join(folder, name);
  };
  return { images, run };
}

async function filesOf(folder: string): Promise<Map<string, Buffer>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const contents = await Promise.all(
    paths.sort().map(async (path) => [path.slice(folder.length + 1), await readFile(path)] as const),
  );
  return new Map(contents);
}

const jobIn = (files: Map<string, Buffer>) => JSON.parse(files.get('job.json')!.toString());

/** The fields of job.json that are the same in every run. */
function lasting(job: Record<string, unknown>): object {
  const { id: _, submitted: __, finished: ___, wallSeconds: ____, ...rest } = job;
  return { ...rest, specification: { ...(job.specification as object), out: '' } };
}

test('the folder of each pipeline has the same files, byte for byte, as a job of that pipeline alone, also after an image is added', async (t) => {
  const { images, run } = await setJobs(t);
  for (const [sources, shards] of [
    [2, 2],
    [3, 1],
    [3, 0],
  ] as const) {
    if (sources === 3 && shards === 1) await copyFile(join(images, 'image-0.pgm'), join(images, 'image-2.pgm'));
    const out = await run('all', { pipeline: undefined, pipelines: { named } }, shards);
    assert.deepEqual((await readdir(out)).toSorted(), ['job.json', 'pipelines']);
    const all = jobIn(await filesOf(out));
    assert.deepEqual(
      all.pipelines.map(({ name }: { name: string }) => name),
      Object.keys(chains),
    );
    assert.deepEqual(all.capturedBy, { mtime: sources });
    const lines = all.pipelines.map(({ name, digest }: { name: string; digest: string }) => `${name} ${digest}\n`);
    assert.equal(all.digest, hash('sha256', `halogrid digests 1\n${lines.join('')}`));
    for (const [i, [name, operations]] of Object.entries(chains).entries()) {
      const part = await filesOf(join(out, 'pipelines', name));
      const own = await filesOf(await run(name, { pipeline: { operations } }, shards));
      assert.ok([...own.keys()].some((path) => path.startsWith('preview/')));
      assert.deepEqual(lasting(jobIn(part)), lasting({ ...jobIn(own), specification: jobIn(part).specification }));
      assert.equal(jobIn(part).incremental?.kept, sources === 2 ? undefined : sources - shards);
      assert.equal(all.pipelines[i].digest, jobIn(own).digest);
      for (const files of [part, own]) files.delete('job.json');
      assert.deepEqual(part, own);
    }
  }
});
