import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { setEnvironment } from '@halogrid/sources/testing-files';
import { startTestS3, type TestS3Options } from '@halogrid/sources/testing-servers';
import { madeBins, makeJob, noise } from '../testing/make-job.ts';
import { readFinishedJob } from './finished-job.ts';
import { readFeatures } from './read-features.ts';

// An output in a bucket has the same frames as in a folder, and a bucket that cannot be read is never taken for a
// damaged output: with threads, too, which read it themselves.

const sha256 = (counts: ArrayLike<number>): string =>
  createHash('sha256')
    .update(new Uint8Array(Float64Array.from(counts).buffer))
    .digest('hex');

const folder = await mkdtemp(join(tmpdir(), 'halogrid-search-'));
after(() => rm(folder, { recursive: true, force: true }));

/** Each frame is a row group, and a file: with 59 bins, no fewer than 2049 cells are a row group. */
const grid = { rows: 3, columns: 683 };

/** An output of several files with enough row groups for threads. */
async function makeOut(): Promise<string> {
  const random = noise(7);
  const cells = Array.from({ length: grid.rows * grid.columns }, () =>
    Array.from({ length: madeBins }, () => random(300)),
  );
  const frames = Array.from({ length: 17 }, (_, frame) => ({
    source: `file:///archive/${frame}.png`,
    frame: 0,
    timestampMs: null,
    cells: cells.toSpliced(frame, 1, cells[frame + 20]!),
  }));
  return await makeJob(join(folder, 'out'), frames, { grid, limits: { wholeCounts: 1, partCounts: 1 } });
}

const out = await makeOut();

/** The output in a bucket, too. */
async function fillBucket(t: TestContext, more: Partial<TestS3Options> = {}) {
  const server = await startTestS3({
    accessKeyId: 'AK',
    secretAccessKey: 'SK',
    region: 'us-east-1',
    bucket: 'results',
    ...more,
  });
  t.after(() => server.close());
  setEnvironment(t, server.environment);
  for (const entry of await readdir(out, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    server.objects.set(`job${path.slice(out.length)}`, await readFile(path));
  }
  return server;
}

test('an output in a bucket is read as in a folder', async (t) => {
  let requests = 0;
  await fillBucket(t, { fault: () => (++requests % 150 === 0 ? 'busy' : undefined) });
  const there = await readFinishedJob('s3://results/job');
  const here = await readFinishedJob(out);
  assert.deepEqual(there, { ...here, out: 's3://results/job', features: 's3://results/job/features.parquet' });
  const framesOf = async (job: typeof here) => {
    const frames = [];
    for await (const frame of readFeatures(job)) frames.push({ ...frame, bins: sha256(frame.bins) });
    return frames;
  };
  assert.deepEqual(await framesOf(there), await framesOf(here));
});

test('a bucket that cannot be read is not called a damaged output', async (t) => {
  let left = Number.POSITIVE_INFINITY;
  const server = await fillBucket(t, { fault: () => (left-- > 0 ? undefined : 'refuse') });
  const job = await readFinishedJob('s3://results/job');
  const denied = { name: 'PlaceError', message: /^Access to 'job\/features\.parquet.*' .* is denied/ };
  // Fewer than the requests for 17 files, however many threads make them.
  for (const after of [0, 3, 20]) {
    left = after;
    await assert.rejects(Array.fromAsync(readFeatures(job)), denied);
  }
  left = Number.POSITIVE_INFINITY;
  for (const [key, bytes] of server.objects)
    if (key.endsWith('.parquet')) server.objects.set(key, bytes.subarray(0, -9));
  await assert.rejects(Array.fromAsync(readFeatures(job)), { message: /damaged or no Parquet/ });
  for (const key of [...server.objects.keys()]) if (key.endsWith('.parquet')) server.objects.delete(key);
  await assert.rejects(Array.fromAsync(readFeatures(job)), { message: /it is not there/ });
  await assert.rejects(readFinishedJob('s3://results/nothing'), {
    message: "'s3://results/nothing' is not the output of a job: its job.json cannot be read",
  });
});
