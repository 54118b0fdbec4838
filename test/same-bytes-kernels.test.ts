import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parseOperation } from '@halogrid/kernels';
import { isThorough } from '@halogrid/testing';
import { asyncBufferFromFile, parquetMetadataAsync } from 'hyparquet';
import { Cluster, type ServingCluster } from './cluster.ts';
import { oracleImages } from './oracle-cases.ts';
import { hashFiles, readJson } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';
import { sharedCluster } from './shared-cluster.ts';

// For all kernels: the same digest, maps, features and previews, for any cut of the images and on any device.

const folder = scratchFolder();
const sources = ['grass.png', ...(isThorough ? ['bark.webp'] : [])].map((name) => {
  return fileURLToPath(new URL(`../samples/images/${name}`, import.meta.url));
});
const clusters: Record<string, ServingCluster> = {};

before(async () => {
  for (const device of ['cpu', 'software'] as const) clusters[device] = await sharedCluster(device);
  if (!isThorough) return;
  const mixed = await Cluster.start({ nodes: 1 });
  await mixed.startNode('other', 'software');
  clusters.mixed = mixed;
});
after(() => Promise.all(Object.values(clusters).map((cluster) => cluster.stop())));

const grid = { rows: 3, columns: 2 };
const jobs: { ops: string[]; border?: string; grid?: typeof grid }[] = [
  { ops: ['ldp:order=4'], grid },
  { ops: ['glcm:levels=24,offsets=1@0+7@135,symmetric=true'], grid },
  { ops: ['conv:kernel=gaussian-7,as=u8', 'lbp:points=12,radius=1.5,labels=uniform'], border: 'mirror', grid },
  { ops: ['conv:kernel=sharpen-3,as=u8,channels=rgb', 'conv:kernel=sobel,as=u8,channels=rgb'], border: 'wrap' },
  { ops: ['conv:kernel=log-5,as=i16,channels=rgb'], border: 'reflect', grid },
  { ops: ['lbp:points=16,radius=2,labels=ror'] },
];

for (const { ops, border, grid } of jobs) {
  test([...ops, border ?? 'default borders', grid ? 'with a grid' : ''].join(' '), async () => {
    const operations = ops.map(parseOperation);
    const outcomes = await Promise.all(
      [['cpu', 0], ['cpu', 97], ['software', 0], ...(isThorough ? [['mixed', 300]] : [])].map(async ([on, tilePx]) => {
        const out = join(folder, `${ops.join('-').replaceAll(/\W/g, '-')}-${on}-${tilePx}`);
        const request = { sources, out, operations, grid, map: 'tiff', tilePx: tilePx as number } as const;
        await clusters[on!]!.jobs.run({ ...request, ...(border && { border }) });
        const { 'job.json': _, ...files } = hashFiles(out);
        return { digest: readJson(out, 'job.json').digest, files };
      }),
    );
    for (const outcome of outcomes) assert.deepEqual(outcome, outcomes[0]);
    assert.ok('features.parquet' in outcomes[0]!.files);
  });
}

test('broken images at the borders of pages, with any batches', async () => {
  const images = join(folder, 'borders');
  mkdirSync(images);
  // Pages of features.parquet have 128 sources with 256 bins.
  const broken = [0, 127, 128, 255, 256, ...Array.from({ length: 128 }, (_, i) => 384 + i)];
  for (let i = 0; i < 520; i++) {
    const pixels = Uint8Array.from({ length: 35 }, (_, at) => (at * at * (i + 3)) % 251);
    const path = join(images, `${String(i).padStart(4, '0')}.pgm`);
    writeFileSync(path, broken.includes(i) ? '' : Buffer.concat([Buffer.from('P5\n7 5\n255\n'), pixels]));
  }
  const outcomes = await Promise.all(
    (
      [
        ['cpu', 7],
        ['cpu', 100],
        ['cpu', 2048],
        ['software', 128],
      ] as const
    ).map(async ([on, batchFrames]) => {
      const out = join(folder, `borders-${on}-${batchFrames}`);
      await clusters[on]!.jobs.run({ sources: [images], out, operations: [parseOperation('lbp')], batchFrames });
      const { 'job.json': _, ...files } = hashFiles(out);
      return { digest: readJson(out, 'job.json').digest, files };
    }),
  );
  for (const outcome of outcomes) assert.deepEqual(outcome, outcomes[0]);
  const file = await asyncBufferFromFile(join(folder, 'borders-cpu-7', 'features.parquet'));
  const { num_rows } = await parquetMetadataAsync(file);
  assert.equal(num_rows, BigInt(520 - broken.length));
});

test('a convolution without maps leaves the statistics of its results, exact as i16 and near as f32', async () => {
  const sources = [join(oracleImages, 'coins.png')];
  const run = async (as: string, on: string, tilePx: number) => {
    const out = join(folder, `coins-${as}-${on}-${tilePx}`);
    const operations = [parseOperation(`conv:kernel=sobel-x,as=${as}`)];
    await clusters[on]!.jobs.run({ sources, out, operations, border: 'mirror', tilePx });
    return { digest: readJson(out, 'job.json').digest, ...readJson(out, 'histogram.json') };
  };
  // SciPy 1.17 and NumPy 2.4: r = ndimage.convolve(a, [[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]], mode='mirror') of the gray
  // plane as int64, then r.min(), r.max(), r.sum(), (r * r).sum(), r.mean() and r.std().
  const expected = { min: -760, max: 756, sum: 91_826, sumOfSquares: 1_002_769_628 };
  const [mean, standardDeviation] = [0.7892086083608361, 92.83205524887771];
  const [whole, tiled] = await Promise.all([run('i16', 'cpu', 0), run('i16', 'software', 100)]);
  assert.deepEqual(tiled, whole);
  assert.deepEqual([whole.range, whole.width, whole.exact], [[-1020, 1021], 1, true]);
  const { mean: ourMean, standardDeviation: ours, ...integers } = whole.channels[0].statistics;
  assert.deepEqual(integers, expected);
  assert.ok(Math.abs(ourMean - mean) < 1e-12 && Math.abs(ours - standardDeviation) < 1e-9);

  const [near, other] = await Promise.all([run('f32', 'cpu', 0), run('f32', 'software', 100)]);
  assert.equal(near.digest, other.digest);
  assert.deepEqual([near.range, near.width, near.exact, near.counted], [[-1024, 1024], 8, false, 384 * 303]);
  assert.match(near.note, /^Near: /);
  const { statistics } = near.channels[0];
  assert.deepEqual([statistics.min, statistics.max], [-760, 760]);
  // The errors of the mean and the deviation from bins: half a bin, and the effect of its even filling.
  assert.ok(Math.abs(statistics.mean - mean) <= 4 && Math.abs(statistics.standardDeviation - standardDeviation) < 1);
});
