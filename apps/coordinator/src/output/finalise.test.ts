import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { writeChunk } from '@halogrid/imaging';
import { createPipeline, type Size } from '@halogrid/kernels';
import type { JobSpec } from '@halogrid/proto';
import { softwareVersion } from '@halogrid/service';
import sharp from 'sharp';
import type { JobRecord, JobResults, SourceOutcome } from '../ledger/ledger.ts';
import { cutTiles } from '../plan/cut-tiles.ts';
import { abandonJob, finaliseJob } from './finalise.ts';
import { claimOutputFolder, outputPath, releaseOutputFolder, scratchUri } from './output-folder.ts';

const pipeline = createPipeline([{ kernel: 'lbp', parameters: {} }], 'interior');
const tilePx = 8;
const sizes: Size[] = [
  { width: 20, height: 10 },
  { width: 5, height: 7 },
];
const broken: SourceOutcome = {
  index: 2,
  uri: 'file:///in/c.jpg',
  name: 'c.jpg',
  state: 'quarantined',
  stage: 'decode',
  error: 'The image ends early',
  attempts: 1,
};

test('a complete job is what the contract says, and nothing else is left', async (t) => {
  const results = await makeResults(t, 'tiff');
  const out = outputPath(results.job.spec.out);
  await finaliseJob(results, pipeline, () => 61_000);

  assert.deepEqual((await readdir(out, { recursive: true })).sort(), [
    'errors.jsonl',
    'histogram.json',
    'histogram.svg',
    'job.json',
    'maps',
    'maps/a.png.tif',
    'maps/a.tif',
    'preview',
    'preview/a.png',
    'preview/a.png.png',
  ]);
  const read = async (name: string) => JSON.parse(await readFile(join(out, name), 'utf8'));
  assert.deepEqual(await read('job.json'), {
    id: 'job-1',
    state: 'complete',
    version: softwareVersion,
    convention: 'nw-cw-msb',
    digest: 'abc',
    submitted: '1970-01-01T00:00:01.000Z',
    finished: '1970-01-01T00:01:01.000Z',
    counts: { sources: 3, frames: 2, shards: 7, attempts: 8, pixels: 235, quarantined: 1 },
    wallSeconds: 60,
    seconds: { decode: 0.3, read: 2 },
    nodes: [{ name: 'node-1', device: 'cpu', shards: 7 }],
    specification: results.job.spec,
    sources: [
      { uri: 'file:///in/a.tif', name: 'a', width: 20, height: 10, pixels: 200, counted: 144 },
      { uri: 'file:///in/a.png', name: 'a.png', width: 5, height: 7, pixels: 35, counted: 15 },
      { uri: 'file:///in/c.jpg', quarantined: true, error: 'The image ends early' },
    ],
  });
  const errors = { uri: 'file:///in/c.jpg', frame: 0, stage: 'decode', error: 'The image ends early', attempts: 1 };
  assert.equal(await readFile(join(out, 'errors.jsonl'), 'utf8'), `${JSON.stringify(errors)}\n`);
  const histogram = await read('histogram.json');
  assert.deepEqual([histogram.kernel, histogram.counted, histogram.channels[0].bins[1]], ['lbp', 159, 159]);

  for (const [i, name] of ['a', 'a.png'].entries()) {
    for (const path of [`maps/${name}.tif`, `preview/${name}.png`]) {
      const { data, info } = await sharp(join(out, path))
        .toColourspace('b-w')
        .raw()
        .toBuffer({ resolveWithObject: true });
      assert.deepEqual([info.width, info.height], [sizes[i]!.width, sizes[i]!.height]);
      assert.ok(data.equals(pixelsOf(i)), path);
    }
  }
});

test('a job without errors and without maps has no files for them', async (t) => {
  const results = await makeResults(t, 'none');
  results.sources.pop();
  await finaliseJob(results, pipeline, () => 61_000);
  assert.deepEqual((await readdir(outputPath(results.job.spec.out))).sort(), [
    'histogram.json',
    'histogram.svg',
    'job.json',
    'preview',
  ]);
});

test('a job without sources has a histogram of nothing', async (t) => {
  const results = { ...(await makeResults(t, 'png')), sources: [], counted: 0n, bins: new BigUint64Array(256) };
  await finaliseJob(results, pipeline, () => 61_000);
  const out = outputPath(results.job.spec.out);
  assert.deepEqual((await readdir(out)).sort(), ['histogram.json', 'histogram.svg', 'job.json']);
  assert.deepEqual(JSON.parse(await readFile(join(out, 'job.json'), 'utf8')).sources, []);
});

test('what cannot be written ends in one sentence, and job.json then tells it', async (t) => {
  const results = await makeResults(t, 'png');
  await rm(join(fileURLToPath(scratchUri(results.job.spec.out)), 'map/0/16-8-4-2.u8'));
  const out = outputPath(results.job.spec.out);
  const message = await finaliseJob(results, pipeline, () => 61_000).then(
    () => 'It was written',
    (error: Error) => error.message,
  );
  assert.match(message, /^The output in '.*' could not be written: The map chunk '.*16-8-4-2.u8' is missing$/);
  assert.equal(JSON.parse(await readFile(join(out, 'job.json'), 'utf8')).state, 'running');

  await abandonJob(results.job, { state: 'failed', error: message }, 62_000);
  assert.deepEqual(await readdir(out), ['job.json']);
  const told = JSON.parse(await readFile(join(out, 'job.json'), 'utf8'));
  assert.deepEqual([told.state, told.error], ['failed', message]);
});

test('an aborted job stops writing, and a cancelled one keeps its job.json alone', async (t) => {
  const results = await makeResults(t, 'tiff');
  const out = outputPath(results.job.spec.out);
  const signal = AbortSignal.abort(new Error('cancelled'));
  await assert.rejects(
    finaliseJob(results, pipeline, () => 61_000, signal),
    /^Error: cancelled$/,
  );
  await abandonJob(results.job, { state: 'cancelled' }, 62_000);
  assert.deepEqual(await readdir(out), ['job.json']);
  const { state, finished, specification, error } = JSON.parse(await readFile(join(out, 'job.json'), 'utf8'));
  assert.deepEqual([state, finished, error], ['cancelled', '1970-01-01T00:01:02.000Z', undefined]);
  assert.deepEqual(specification, results.job.spec);
});

/** A job of two images and a broken one, its folder claimed and its chunks written as nodes write them. */
async function makeResults(t: { after(act: () => Promise<void>): void }, mapFormat: string): Promise<JobResults> {
  const folder = await mkdtemp(join(tmpdir(), 'halogrid-finalise-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const spec: JobSpec = {
    sources: ['file:///in'],
    pipeline: { operations: [{ kernel: 'lbp', parameters: { convention: 'nw-cw-msb' } }], border: 'interior' },
    out: pathToFileURL(join(folder, 'out')).href,
    mapFormat,
    tilePx,
    batchFrames: 0,
  };
  await claimOutputFolder(spec.out, { jobId: 'job-1', spec });
  releaseOutputFolder(spec.out);
  const scratch = scratchUri(spec.out);
  for (const [source, size] of sizes.entries()) {
    for (const rect of cutTiles(size, tilePx)) {
      const codes = pixelsOf(source).subarray(rect.y * size.width + rect.x);
      for (const kind of ['map', 'preview'] as const)
        await writeChunk({ scratch, kind, source, size, rect }, codes, size.width);
    }
  }
  const job: JobRecord = {
    jobId: 'job-1',
    spec,
    state: 'finalising',
    submittedMs: 1000,
    finishedMs: 0,
    error: '',
    digest: '',
    planned: true,
    counts: { sources: 3, frames: 2, shards: 7, shardsDone: 7, attempts: 8, pixels: 235, quarantined: 1 },
  };
  const bins = new BigUint64Array(256);
  bins[1] = 159n;
  return {
    job,
    sources: [
      { index: 0, uri: 'file:///in/a.tif', name: 'a.tif', state: 'done', size: sizes[0]!, tiles: 6, counted: 144 },
      { index: 1, uri: 'file:///in/a.png', name: 'a.png', state: 'done', size: sizes[1]!, tiles: 1, counted: 15 },
      broken,
    ],
    counted: 159n,
    bins,
    stageSeconds: { read: 2, decode: 0.1 + 0.2 },
    nodes: [{ name: 'node-1', device: 'cpu', shards: 7 }],
    digest: 'abc',
  };
}

function pixelsOf(source: number): Uint8Array {
  const { width, height } = sizes[source]!;
  return Uint8Array.from({ length: width * height }, (_, i) => (i * 37 + source) % 256);
}
