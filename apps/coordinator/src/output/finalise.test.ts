import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type Size, sampleBytes } from '@halogrid/geometry';
import { mapType } from '@halogrid/jobs/map-type';
import { outputPath, scratchUri } from '@halogrid/jobs/output-paths';
import { plannedSources } from '@halogrid/jobs/testing-planned';
import { createPipeline, cutTiles, type Pipeline, specifiedOperations } from '@halogrid/kernels';
import {
  FencedError,
  type FoundRun,
  type JobRecord,
  type JobResults,
  type QuarantinedRow,
  type SettledRun,
} from '@halogrid/ledger';
import { foundShard } from '@halogrid/ledger/testing-memory-parts';
import type { JobSpec, VideoOptions } from '@halogrid/proto';
import { piecesOf, writeChunk } from '@halogrid/results';
import { histogramShape } from '@halogrid/results/histogram-shape';
import { PartWriter } from '@halogrid/results/part-writer';
import { listNames } from '@halogrid/results/source-list';
import { documentedDigest } from '@halogrid/results/testing-digest';
import { resultsVersion, softwareVersion } from '@halogrid/service';
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import sharp from 'sharp';
import { abandonJob, finaliseJob } from './finalise.ts';
import { completeJobJson } from './job-json.ts';
import { LostPartError } from './lost-part-error.ts';
import { claimOutputFolder, releaseOutputFolder } from './output-folder.ts';
import { atOnce, type UntilWritten } from './output-wait.ts';
import { openTables } from './tables-file.ts';
import type { TablesOutput } from './tables-output.ts';
import { partsPath } from './write-part.ts';

const pipeline = createPipeline([{ kernel: 'lbp', parameters: {} }]);
const operations = specifiedOperations(pipeline);
const tilePx = 8;
const sizes: Size[] = [
  { width: 20, height: 10 },
  { width: 5, height: 7 },
];
const counted = [144, 15] as const;
const files = [
  { uri: 'file:///in/a.tif', name: 'a' },
  { uri: 'file:///in/a.png', name: 'a.png' },
  { uri: 'file:///in/c.jpg', name: 'c.jpg' },
];
const broken: QuarantinedRow = {
  index: 2,
  uri: 'file:///in/c.jpg',
  version: 'version 2',
  stage: 'decode',
  error: 'The image ends early',
  attempts: 1,
};

test('a complete job has the files that the contract lists, and nothing else', async (t) => {
  const results = await makeResults(t, 'tiff');
  const out = outputPath(results.job.spec.out);
  const finished = await finaliseJob(results, pipeline, tablesOf(results), () => 61_000);

  const digest = jobDigestOf('', [binsOf(144), binsOf(15)]);
  assert.deepEqual(finished, { digest, captured: { unknown: 2 } });
  assert.deepEqual((await readdir(out, { recursive: true })).sort(), [
    'errors.jsonl',
    'features.parquet',
    'histogram.json',
    'histogram.svg',
    'job.json',
    'maps',
    'maps/a.png.tif',
    'maps/a.tif',
    'preview',
    'preview/a.png',
    'preview/a.png.png',
    'preview/a.png.source.jpg',
    'preview/a.source.jpg',
    'sources.jsonl',
  ]);
  const read = async (name: string) => JSON.parse(await readFile(join(out, name), 'utf8'));
  assert.deepEqual(await read('job.json'), {
    id: 'job-1',
    state: 'complete',
    version: softwareVersion,
    resultsVersion,
    convention: 'nw-cw-msb',
    digest,
    submitted: '1970-01-01T00:00:01.000Z',
    finished: '1970-01-01T00:01:01.000Z',
    counts: { sources: 3, frames: 2, shards: 7, attempts: 8, pixels: 235, quarantined: 1 },
    capturedBy: { unknown: 2 },
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
  assert.deepEqual(await readFeatures(out), [
    featureOf('file:///in/a.tif', 0, 0, 144, binsOf(144)),
    featureOf('file:///in/a.png', 0, 0, 15, binsOf(15)),
  ]);
  const histogram = await read('histogram.json');
  assert.deepEqual([histogram.kernel, histogram.counted, histogram.channels[0].bins[1]], ['lbp', 159, 159]);
  const { kernel, counted: _, channels, ...description } = histogram;
  assert.equal(description.digest, digest);
  assert.deepEqual(description.pipeline, [
    {
      kernel: 'lbp',
      parameters: { convention: 'nw-cw-msb', points: '8', radius: '1', labels: 'all' },
      border: 'interior',
    },
  ]);
  assert.deepEqual(await descriptionOf(out), description);

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

test('each preview comes with a picture of its source', async (t) => {
  const results = await makeResults(t, 'none');
  await finaliseJob(results, pipeline, tablesOf(results), () => 61_000);
  const folder = join(outputPath(results.job.spec.out), 'preview');
  for (const [i, name] of ['a.source.jpg', 'a.png.source.jpg'].entries()) {
    const { data, info } = await sharp(join(folder, name))
      .toColourspace('b-w')
      .raw()
      .toBuffer({ resolveWithObject: true });
    assert.deepEqual([info.width, info.height, info.channels], [sizes[i]!.width, sizes[i]!.height, 1]);
    assert.ok(data.every((value) => Math.abs(value - 200) <= 1));
  }
});

test('previews are of the sources that the planner chose, and are not chosen again if that is known', async (t) => {
  const results = await makeResults(t, 'none');
  const { tables } = tablesOf(results);
  const asked: number[][] = [];
  const given: JobResults = {
    ...results,
    plan: () => assert.fail('Nobody reads the plan'),
    settled: (...which) => {
      asked.push(which);
      return results.settled(...which);
    },
  };
  await finaliseJob(given, pipeline, { tables, previewed: [1, 2] }, () => 61_000);
  const previews = await readdir(join(outputPath(results.job.spec.out), 'preview'));
  assert.deepEqual(previews.sort(), ['a.png.png', 'a.png.source.jpg']);
  // Not all sources are read for them.
  assert.deepEqual(asked, [
    [1, 1],
    [2, 1],
  ]);
});

test('a source without chunks for a preview gets no preview', async (t) => {
  const results = await makeResults(t, 'none');
  await rm(join(fileURLToPath(scratchUri(results.job.spec.out)), 'preview', '1'), { recursive: true });
  await finaliseJob(results, pipeline, tablesOf(results), () => 61_000);
  const out = outputPath(results.job.spec.out);
  assert.deepEqual((await readdir(join(out, 'preview'))).sort(), ['a.png', 'a.source.jpg']);
});

test('job.json has the reasons for quarantined inputs after the counts', async (t) => {
  const results = await makeResults(t, 'none');
  const quarantine = [{ stage: 'decode', error: 'The image ends early', inputs: 1, example: 'file:///in/c.jpg' }];
  results.job.reasons = quarantine;
  await finaliseJob(results, pipeline, tablesOf(results), () => 61_000);
  const written = JSON.parse(await readFile(join(outputPath(results.job.spec.out), 'job.json'), 'utf8'));
  assert.deepEqual(written.quarantine, quarantine);
  const keys = Object.keys(written);
  assert.equal(keys.indexOf('quarantine'), keys.indexOf('counts') + 1);
});

test('maps are named by their format', async (t) => {
  for (const [format, expected] of [
    ['zarr', ['a.png.zarr', 'a.zarr']],
    ['dzi', ['a.dzi', 'a.png.dzi', 'a.png_files', 'a_files', 'index.html', 'openseadragon.js']],
  ] as const) {
    const results = await makeResults(t, format);
    const out = outputPath(results.job.spec.out);
    await finaliseJob(results, pipeline, tablesOf(results), () => 61_000);
    assert.deepEqual((await readdir(join(out, 'maps'))).sort(), expected);
    assert.ok(!(await readdir(out)).includes('.halogrid'));
  }
});

test('a job without errors and without maps has no files for them', async (t) => {
  const results = withoutBroken(await makeResults(t, 'none'));
  await finaliseJob(results, pipeline, tablesOf(results), () => 61_000);
  assert.deepEqual((await readdir(outputPath(results.job.spec.out))).sort(), [
    'features.parquet',
    'histogram.json',
    'histogram.svg',
    'job.json',
    'preview',
    'sources.jsonl',
  ]);
});

test('a job without sources has a histogram of nothing', async (t) => {
  const none = { counted: 0n, bins: new BigUint64Array(256), plan: async function* () {}, settled: settledOf([]) };
  const results = { ...(await makeResults(t, 'png')), ...none };
  Object.assign(results.job.counts, { sources: 0, frames: 0, quarantined: 0 });
  await finaliseJob(results, pipeline, tablesOf(results), () => 61_000);
  const out = outputPath(results.job.spec.out);
  assert.deepEqual((await readdir(out)).sort(), [
    'features.parquet',
    'histogram.json',
    'histogram.svg',
    'job.json',
    'sources.jsonl',
  ]);
  assert.deepEqual(await readFeatures(out), []);
  assert.deepEqual(JSON.parse(await readFile(join(out, 'job.json'), 'utf8')).sources, []);
});

test('with four channels and a grid, every file has all channels and cells', async (t) => {
  // As with ldp: four bands of codes, four histograms.
  const directions = ['0', '45', '90', '135'];
  const four: Pipeline = {
    ...pipeline,
    output: { sample: 'u8', channels: directions },
    convention: 'ldp-3',
    bins: 4,
    words: { channels: directions },
  };
  // All channels of a cell count the same number of pixels; each begins with another bin.
  const cell = (counts: number[]): number[] =>
    directions.flatMap((_, i) => counts.map((_, bin) => counts[(bin + i) % 4]!));
  const upper = [12, 14, 16, 18];
  const lower = [18, 20, 22, 24];
  const few = [3, 4, 4, 4];
  const histograms = [
    [...cell(upper), ...cell(lower)],
    [...cell(few), ...cell([0, 0, 0, 0])],
  ];
  const given = await makeResults(t, 'tiff', { grid: { rows: 2, columns: 1 }, of: four, histograms });
  const bins = BigUint64Array.from({ length: 16 }, (_, i) => BigInt(i));
  const results = { ...given, bins };
  const { digest } = await finaliseJob(results, four, tablesOf(results, four), () => 61_000);
  assert.equal(digest, jobDigestOf(' grid=2x1', histograms));
  const out = outputPath(results.job.spec.out);

  const histogram = JSON.parse(await readFile(join(out, 'histogram.json'), 'utf8'));
  assert.deepEqual([histogram.convention, histogram.counted], ['ldp-3', 159]);
  assert.deepEqual(
    histogram.channels,
    directions.map((name, i) => ({ name, bins: [4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3] })),
  );
  const chart = await readFile(join(out, 'histogram.svg'), 'utf8');
  for (const name of directions) assert.match(chart, new RegExp(`class="channel"[^<]*\\b${name}<`));

  assert.deepEqual(await readFeatures(out), [
    featureOf('file:///in/a.tif', 0, 0, 60, cell(upper)),
    featureOf('file:///in/a.tif', 1, 0, 84, cell(lower)),
    featureOf('file:///in/a.png', 0, 0, 15, cell(few)),
    featureOf('file:///in/a.png', 1, 0, 0, Array(16).fill(0)),
  ]);

  const map = await readFile(join(out, 'maps/a.tif'));
  assert.ok(map.includes('ldp-3; bands 0, 45, 90, 135'));
  assert.ok((await readBands(join(out, 'maps/a.tif'), 4, 'uchar')).equals(pixelsOf(0, four)));
  const pictures = ['a.png', 'a.png.png', 'a.png.source.jpg', 'a.source.jpg'];
  assert.deepEqual((await readdir(join(out, 'preview'))).sort(), pictures);
});

test('a result without a histogram has maps and previews, and a histogram.json without bins', async (t) => {
  const responses: Pipeline = {
    ...pipeline,
    output: { sample: 'f32', channels: ['red', 'green', 'blue'] },
    meaning: 'values',
    convention: 'conv-sobel',
    bins: 0,
    words: { channels: ['r', 'g', 'b'] },
  };
  const results = await makeResults(t, 'tiff', { grid: { rows: 2, columns: 2 }, of: responses, histograms: [[], []] });
  const { digest } = await finaliseJob(results, responses, tablesOf(results, responses), () => 61_000);
  assert.equal(digest, jobDigestOf(' grid=2x2', [[], []]));
  const out = outputPath(results.job.spec.out);
  assert.deepEqual((await readdir(out)).sort(), [
    'errors.jsonl',
    'histogram.json',
    'job.json',
    'maps',
    'preview',
    'sources.jsonl',
  ]);
  const { kernel, convention, counted, channels, ...description } = JSON.parse(
    await readFile(join(out, 'histogram.json'), 'utf8'),
  );
  assert.deepEqual([kernel, convention, counted], ['lbp', 'conv-sobel', 159]);
  const names = ['red', 'green', 'blue'];
  assert.deepEqual(
    channels,
    names.map((name) => ({ name, bins: [] })),
  );
  const of = names.map((name, i) => ({ name, of: 'rgb'[i] }));
  assert.deepEqual(description.histogram, { binsPerChannel: 0, channels: of });
  assert.ok((await readBands(join(out, 'maps/a.tif'), 3, 'float')).equals(pixelsOf(0, responses)));
});

test('tables that cannot be written fail the output', async (t) => {
  const results = await makeResults(t, 'none');
  const tables = {
    finish: async () => {
      throw new Error('The log ends early');
    },
  };
  await assert.rejects(
    finaliseJob(results, pipeline, { tables }, () => 61_000),
    /^Error: The output in '.*' could not be written: The log ends early$/,
  );
  const job = JSON.parse(await readFile(join(outputPath(results.job.spec.out), 'job.json'), 'utf8'));
  assert.equal(job.state, 'running');
});

test('whichever step reads a lost part, it rejects with LostPartError; once the shard is done again, everything is written', async (t) => {
  for (const mapFormat of ['none', 'png']) {
    const results = await makeResults(t, mapFormat);
    const parts = partsPath(results.job.spec.out);
    const [part] = await readdir(parts);
    await rename(join(parts, part!), join(parts, 'lost'));
    const lost = (error: unknown): boolean => error instanceof LostPartError && error.shard === 4;
    // Either the tables are written already, or they read the part.
    const finish = async () => [{ digest: '', listed: [], file: listNames.lines, entries: 0, captured: {} }];
    const written = mapFormat === 'png' ? { tables: { finish } } : tablesOf(results, pipeline, () => {});
    await assert.rejects(
      finaliseJob(results, pipeline, { ...written, previewed: [] }, () => 61_000),
      lost,
    );
    await rename(join(parts, 'lost'), join(parts, part!));
    const { digest } = await finaliseJob(results, pipeline, tablesOf(results), () => 61_000);
    assert.equal(digest, jobDigestOf('', [binsOf(144), binsOf(15)]));
  }
});

test('an output folder that was taken away is not made again', async (t) => {
  const results = await makeResults(t, 'none');
  const out = outputPath(results.job.spec.out);
  const tables = tablesOf(results);
  await rm(out, { recursive: true });
  await assert.rejects(
    finaliseJob(results, pipeline, tables, () => 61_000),
    /^Error: The output in '.*' could not be written: ENOENT/,
  );
  assert.equal(existsSync(out), false);
});

test('an output that cannot be written rejects with one sentence, which job.json has then', async (t) => {
  const results = await makeResults(t, 'png');
  await rm(join(fileURLToPath(scratchUri(results.job.spec.out)), 'map/0/16-8-4-2.u8'));
  const out = outputPath(results.job.spec.out);
  const message = await finaliseJob(results, pipeline, tablesOf(results), () => 61_000).then(
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

test('an aborted job stops writing, and a cancelled one keeps only its job.json', async (t) => {
  const results = await makeResults(t, 'tiff');
  const out = outputPath(results.job.spec.out);
  const signal = AbortSignal.abort(new Error('cancelled'));
  const tables = tablesOf(results);
  await assert.rejects(
    finaliseJob(results, pipeline, tables, () => 61_000, signal),
    /^Error: cancelled$/,
  );
  await abandonJob(results.job, { state: 'cancelled' }, 62_000);
  assert.deepEqual(await readdir(out), ['job.json']);
  const { state, finished, specification, error } = JSON.parse(await readFile(join(out, 'job.json'), 'utf8'));
  assert.deepEqual([state, finished, error], ['cancelled', '1970-01-01T00:01:02.000Z', undefined]);
  assert.deepEqual(specification, results.job.spec);
});

test('an earlier leader that is paused at any write, and goes on at any write of its successor, changes nothing', async (t) => {
  for (const [before, after] of [
    [0, 4],
    [3, 0],
    [6, 6],
    [9, 99],
    [99, 2],
    [99, 99],
  ] as const) {
    const results = await makeResults(t, 'tiff');
    const out = outputPath(results.job.spec.out);
    const [paused, wakes] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let [its, others] = [0, 0];
    const pausedOnce = async (): Promise<void> => {
      paused.resolve();
      await wakes.promise;
    };
    const first = finaliseJob(
      results,
      pipeline,
      {
        ...tablesOf(results, pipeline, () => {}, 1),
        epoch: 1,
        confirm: async () => {
          await pausedOnce();
          throw new FencedError(1, undefined);
        },
        until: async (write) => {
          if (its++ === before) await pausedOnce();
          return write();
        },
      },
      () => 61_000,
    ).then(
      () => assert.fail('It finalised a job that another leads'),
      () => {},
    );
    await paused.promise;
    const awake = async (): Promise<void> => {
      wakes.resolve();
      await first;
    };
    const until: UntilWritten = async (write) => {
      if (others++ === after) await awake();
      return write();
    };
    await finaliseJob(
      results,
      pipeline,
      { ...tablesOf(results, pipeline, undefined, 2), epoch: 2, until },
      () => 61_000,
    );
    await awake();
    const alone = await makeResults(t, 'tiff');
    await finaliseJob(alone, pipeline, tablesOf(alone), () => 61_000);
    const [is, was] = await Promise.all([out, outputPath(alone.job.spec.out)].map(filesOf));
    assert.deepEqual(is, was, `paused at write ${before}, goes on at write ${after}`);
  }
});

/** A digest of each file of a folder, by relative path. */
async function filesOf(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const read = paths.sort().map(async (path) => {
    const content = (await readFile(path, 'latin1')).replaceAll(folder, '');
    return [path.slice(folder.length + 1), createHash('sha256').update(content).digest('hex')] as const;
  });
  return Object.fromEntries(await Promise.all(read));
}

/** Options of makeResults. */
interface Made {
  grid?: { rows: number; columns: number };
  of?: Pipeline;
  /** Counts of both images. */
  histograms?: readonly number[][];
}

/**
 * A job of two images and a broken one: its folder is claimed, its results are in a part, and its chunks are written as
 * nodes write them.
 */
async function makeResults(
  t: { after(act: () => Promise<void>): void },
  mapFormat: string,
  { grid = { rows: 1, columns: 1 }, of = pipeline, histograms = [binsOf(144), binsOf(15)] }: Made = {},
): Promise<JobResults> {
  const folder = await mkdtemp(join(tmpdir(), 'halogrid-finalise-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const spec: JobSpec = {
    sources: ['file:///in'],
    pipeline: { operations },
    op: [],
    out: pathToFileURL(join(folder, 'out')).href,
    mapFormat,
    tilePx,
    batchFrames: 0,
    grid,
  };
  await claimOutputFolder(spec.out, { jobId: 'job-1', spec });
  releaseOutputFolder(spec.out);
  const scratch = scratchUri(spec.out);
  const type = mapType(of.output);
  const unit = sampleBytes[type.sample];
  for (const [source, size] of sizes.entries()) {
    const planes = pixelsOf(source, of);
    const strides = { strideBytes: unit * size.width, bandBytes: unit * size.width * size.height };
    for (const rect of cutTiles(size, tilePx)) {
      const bytes = planes.subarray(unit * (rect.y * size.width + rect.x));
      // No source has several Zarr shards.
      const [piece] = piecesOf(rect, size, type, mapFormat === 'zarr');
      for (const kind of [piece!.kind, 'preview'] as const)
        await writeChunk({ scratch, kind, source, size, type, rect }, { bytes, ...strides });
      const original = {
        bytes: new Uint8Array(size.width * size.height).fill(200),
        strideBytes: size.width,
        bandBytes: 0,
      };
      const gray = { sample: 'u8', bands: 1 } as const;
      await writeChunk({ scratch, kind: 'sums', source, size, type: gray, rect }, original);
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
  const sources = plannedSources(
    files.map((file, index) => {
      const version = `version ${index}`;
      // The first source has six tiles.
      return { ...file, index, version, pin: version, ...(index === 0 && { tiles: 6 }) };
    }),
  );
  const found = await writeFound(join(folder, 'plan'), spec, of, sources.block, histograms);
  return {
    job,
    counted: 159n,
    bins: BigUint64Array.from(binsOf(159), BigInt),
    stageSeconds: { read: 2, decode: 0.1 + 0.2 },
    nodes: [{ name: 'node-1', device: 'cpu', shards: 7 }],
    plan: async function* () {
      yield { kind: 'sources', sources };
    },
    settled: settledOf([found, { kind: 'quarantined', sources: [broken] }]),
  };
}

/** Writes a block after other bytes of a file, and the results of its two images to a part. */
async function writeFound(
  file: string,
  { out, grid }: JobSpec,
  of: Pipeline,
  block: Uint8Array,
  histograms: readonly number[][],
): Promise<FoundRun> {
  const offset = 5;
  await writeFile(file, Buffer.concat([Buffer.alloc(offset), block]));
  const shape = histogramShape(of, grid!);
  const results = sizes.map((size, source) => {
    const rect = { x: 0, y: 0, ...size };
    return { source, size, rect, counted: counted[source]!, bins: histograms[source]! };
  });
  const writer = await PartWriter.create(partsPath(out), [{ name: '', shape }]);
  const found = await writer.add(foundShard(block, results, [shape]));
  await writer.finish();
  const planned = { file, offset, length: block.length, nth: 0 };
  return { kind: 'found', first: 0, count: 2, planned, found, shard: 4 };
}

/** As Ledger.settled, for a job of these runs. */
function settledOf(runs: readonly SettledRun[]): JobResults['settled'] {
  const sources = runs.flatMap((run): SettledRun[] => {
    if (run.kind === 'quarantined') return run.sources.map((source) => ({ ...run, sources: [source] }));
    return Array.from({ length: run.count }, (_, i) => {
      const planned = { ...run.planned, nth: run.planned.nth + i };
      return { ...run, first: run.first + i, count: 1, planned };
    });
  });
  return async (from, atMost) => {
    const some = sources.slice(from, from + atMost);
    return { next: from + some.length, runs: some };
  };
}

/** The same job without its last source. */
function withoutBroken(results: JobResults): JobResults {
  Object.assign(results.job.counts, { sources: 2, quarantined: 0 });
  return {
    ...results,
    settled: async (from, atMost) => results.settled(from, Math.min(atMost, 2 - from)),
  };
}

/** The tables of a job. */
function tablesOf(
  { job, settled }: JobResults,
  of: Pipeline = pipeline,
  failed: (error: Error) => void = assert.fail,
  epoch = 1,
): { tables: TablesOutput } {
  return { tables: openTables({ spec: job.spec, pipeline: of }, { epoch, settled, failed, until: atOnce }) };
}

/** The digest of a job of both images and the broken one, as the documentation states it. */
function jobDigestOf(more: string, histograms: readonly number[][]): string {
  const line = `lbp:convention=nw-cw-msb,labels=all,points=8,radius=1 border=interior${more}`;
  const sha = createHash('sha256').update(`halogrid digest 1\n${line}\n`);
  for (const [i, { width, height }] of sizes.entries()) {
    sha.update(documentedDigest(width, height, counted[i]!, histograms[i]!));
  }
  return sha.update(createHash('sha256').update('quarantined').digest()).digest('hex');
}

/** 256 bins, all pixels in one. */
function binsOf(counted: number): number[] {
  return Array.from({ length: 256 }, (_, bin) => (bin === 1 ? counted : 0));
}

/** The dense result of a source, planes one after another. */
function pixelsOf(source: number, { output }: Pipeline = pipeline): Uint8Array {
  const { width, height } = sizes[source]!;
  const samples = width * height * output.channels.length;
  const values = Array.from({ length: samples }, (_, i) => (i * 37 + source) % 256);
  return output.sample === 'f32' ? new Uint8Array(Float32Array.from(values).buffer) : Uint8Array.from(values);
}

async function readBands(path: string, bands: number, depth: 'uchar' | 'float'): Promise<Buffer> {
  const metadata = await sharp(path).metadata();
  assert.deepEqual([metadata.channels, metadata.depth], [bands, depth]);
  const planes = ([0, 1, 2, 3] as const).slice(0, bands).map((band) => {
    return sharp(path).extractChannel(band).toColourspace('b-w').raw({ depth }).toBuffer();
  });
  return Buffer.concat(await Promise.all(planes));
}

function featureOf(source: string, cell_row: number, cell_col: number, counted: number, histogram: number[]) {
  const name = source === 'file:///in/a.tif' ? 'a' : 'a.png';
  return {
    source,
    name,
    frame: 0,
    timestamp_ms: null,
    captured_at: null,
    camera: null,
    cell_row,
    cell_col,
    counted: BigInt(counted),
    histogram,
  };
}

/** The description in features.parquet. */
async function descriptionOf(out: string): Promise<unknown> {
  const { key_value_metadata } = await parquetMetadataAsync(await asyncBufferFromFile(join(out, 'features.parquet')));
  return JSON.parse(key_value_metadata!.find(({ key }) => key === 'halogrid')!.value!);
}

async function readFeatures(out: string): Promise<Record<string, unknown>[]> {
  return parquetReadObjects({ file: await asyncBufferFromFile(join(out, 'features.parquet')) });
}

const digests = { digest: 'abc', parts: [] };

test('a job whose videos hardware may have decoded says that hardware conceals damage', async (t) => {
  const results = await makeResults(t, 'none');
  const textOf = (video?: VideoOptions): string => {
    const job = { ...results.job, spec: { ...results.job.spec, video } };
    const none = { listed: [], file: 'sources.jsonl', entries: 0 };
    return completeJobJson({ ...results, job }, pipeline, 61_000, digests, none);
  };
  const every = { every: 2, fpsNum: 0, fpsDen: 0, hwaccel: '' };
  for (const video of [undefined, every]) assert.equal(JSON.parse(textOf(video)).hardware, undefined);
  assert.match(JSON.parse(textOf({ ...every, hwaccel: 'auto' })).hardware, /hardware, which conceals damage/);
});

test('job.json lists sources or names their list, and always names a list of rows', async (t) => {
  const results = await makeResults(t, 'none');
  const named = (listed: string[] | undefined, file: string) => {
    const text = completeJobJson(results, pipeline, 61_000, digests, { listed, file, entries: 7 });
    const { sources, sourceList } = JSON.parse(text);
    return [sources, sourceList];
  };
  const [lines, rows] = ['sources.jsonl', 'pipelines/a/sources.parquet'];
  assert.deepEqual(named(['{"uri":"a"}'], lines), [[{ uri: 'a' }], undefined]);
  assert.deepEqual(named(undefined, lines), [{ file: lines, entries: 7 }, undefined]);
  assert.deepEqual(named(['{"uri":"a"}'], rows), [[{ uri: 'a' }], rows]);
  assert.deepEqual(named(undefined, rows), [{ file: rows, entries: 7 }, rows]);
});
