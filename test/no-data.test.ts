import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import sharp from 'sharp';
import type { ServingCluster } from './cluster.ts';
import { lbpByDefinition } from './lbp-definition.ts';
import { writePgm } from './picture-files.ts';
import { lacksPython, runPython } from './python.ts';
import { readErrors, readHistogram, readJson } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';
import { sharedCluster } from './shared-cluster.ts';

// GDAL writes scenes with NoData and NumPy counts their codes: the only test in which the whole program leaves pixels
// out, from the tag of a file, or a mask beside it, to histogram and map.

const lacksGdal = lacksPython('osgeo', 'numpy');
const folder = scratchFolder();

const make = `
import json, sys, numpy
from osgeo import gdal
gdal.UseExceptions()
height, width = 90, 130
pixels = numpy.random.RandomState(3).randint(1, 200, (height, width)).astype('uint8')
pixels[10:30, 40:90] = 0
pixels[60, 60] = 0
for name, options in [
    ('tiles', ['TILED=YES', 'BLOCKXSIZE=32', 'BLOCKYSIZE=32', 'COMPRESS=DEFLATE']),
    ('strips', ['COMPRESS=LZW']),
]:
    file = gdal.GetDriverByName('GTiff').Create(f'{sys.argv[1]}/{name}.tif', width, height, 1, gdal.GDT_Byte, options)
    file.GetRasterBand(1).SetNoDataValue(0)
    file.GetRasterBand(1).WriteArray(pixels)
    file = None
values = pixels.astype(int)
centre = values[1:-1, 1:-1]
codes = numpy.zeros((height, width), int)
near = numpy.zeros((height, width), bool)
around = numpy.pad(values == 0, 1)
ring = [(-1, -1), (-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1)]
for bit, (dy, dx) in enumerate(ring):
    codes[1:-1, 1:-1] |= (values[1 + dy:height - 1 + dy, 1 + dx:width - 1 + dx] >= centre) << (7 - bit)
for dy in range(3):
    for dx in range(3):
        near |= around[dy:dy + height, dx:dx + width]
inner = numpy.zeros((height, width), bool)
inner[1:-1, 1:-1] = True
of = lambda counts: numpy.bincount(codes[counts], minlength=256).tolist()
print(json.dumps({'without': of(inner & ~near), 'all': of(inner)}))
`;

const look = `
import json, sys
from osgeo import gdal
file = gdal.Open(sys.argv[1])
band = file.GetRasterBand(1)
out = band.ReadAsArray()[5:35, 35:95]
print(json.dumps({'noData': band.GetNoDataValue(), 'out': int((out == band.GetNoDataValue()).sum())}))
`;

const answerOf = async (script: string, ...args: string[]) => {
  const { stdout, stderr } = await runPython(['-c', script, ...args]);
  assert.ok(stdout, stderr);
  return JSON.parse(stdout);
};

let expected: { without: number[]; all: number[] };
let cluster: ServingCluster | undefined;

before(async () => {
  if (!lacksGdal) expected = await answerOf(make, folder);
  cluster = await sharedCluster('cpu');
});

after(() => cluster?.stop());

const sum = (counts: readonly number[]): number => counts.reduce((all, count) => all + count, 0);

test('scenes with NoData are counted as NumPy counts them, for every cut', { skip: lacksGdal }, async () => {
  const digests = new Set<string>();
  for (const [args, bins] of [
    [[], 'without'],
    [['--tile', '37', '--nodata', '0'], 'without'],
    [['--nodata', 'none'], 'all'],
  ] as const) {
    const out = join(folder, `out ${args.join(' ')}`);
    const sources = ['tiles', 'strips'].map((name) => join(folder, `${name}.tif`));
    const { code, stderr } = await cluster!.halogrid(['run', ...sources, '--out', out, ...args]);
    assert.equal(code, 0, stderr);
    const twice = expected[bins].map((count) => 2 * count);
    assert.deepEqual(readHistogram(out), { counted: sum(twice), bins: twice });
    if (bins === 'without') digests.add(readJson(out, 'job.json').digest);
  }
  assert.equal(digests.size, 1);
});

test('GDAL finds NoData in a map of signed numbers, and 0 in a map of codes', { skip: lacksGdal }, async () => {
  const map = async (op: string): Promise<string> => {
    const out = join(folder, op);
    const run = ['run', join(folder, 'tiles.tif'), '--op', op, '--map', 'tiff', '--tile', '64', '--out', out];
    const { code, stderr } = await cluster!.halogrid(run);
    assert.equal(code, 0, stderr);
    return join(out, 'maps', 'tiles.tif');
  };
  // The hole has 20 x 50 pixels, and each of its neighbours reads one of them.
  assert.deepEqual(await answerOf(look, await map('conv:kernel=sobel-x,as=i16')), { noData: -32768, out: 22 * 52 });
  assert.equal((await answerOf(look, await map('lbp'))).noData, null);
});

test('zeros of masks do not count, and a changed mask computes its image again', async () => {
  const [images, masks, out] = ['images', 'masks', 'masked'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const picture = {
    width: 61,
    height: 40,
    pixels: Uint8Array.from({ length: 61 * 40 }, (_, i) => (i * i * 7 + i) % 251),
  };
  const maskOf = (step: number) => ({
    ...picture,
    pixels: picture.pixels.map((_, i) => (i % step === 0 ? 0 : 1 + (i % 2))),
  });
  for (const path of [join(images, 'cam'), join(masks, 'cam')]) mkdirSync(path, { recursive: true });
  await writePgm(join(images, 'a.pgm'), picture);
  await writePgm(join(images, 'cam', 'b.pgm'), picture);
  await writePgm(join(images, 'without.pgm'), picture);
  await writePgm(join(masks, 'cam', 'b.pgm'), maskOf(3));
  const writeMask = async (step: number) => {
    const { width, height, pixels } = maskOf(step);
    await sharp(pixels, { raw: { width, height, channels: 1 } })
      .png()
      .toFile(join(masks, 'a.png'));
  };
  const { codes } = lbpByDefinition(picture, 'interior', 'nw-cw-msb');
  const binsOf = (...steps: number[]): number[] => {
    const bins = new Array<number>(256).fill(0);
    for (const step of steps) {
      for (let y = 1; y < 39; y++) {
        for (let x = 1; x < 60; x++) if ((y * 61 + x) % step !== 0) bins[codes[y * 61 + x]!]!++;
      }
    }
    return bins;
  };
  const run = async (...more: string[]) => {
    const { code, stderr, stdout } = await cluster!.halogrid(['run', images, '--mask', masks, '--json', ...more]);
    assert.equal(code, 3, stderr);
    return JSON.parse(stdout).incremental;
  };
  await writeMask(5);
  await run('--out', out);
  assert.deepEqual(readHistogram(out).bins, binsOf(5, 3));
  assert.deepEqual(
    readErrors(out).map(({ error }) => error),
    [`There is no mask '${join(masks, 'without')}' with the ending of an image for 'without.pgm'`],
  );
  await writeMask(7);
  const { kept, changed } = await run('--out', out);
  assert.deepEqual([kept, changed], [1, 1]);
  assert.deepEqual(readHistogram(out).bins, binsOf(7, 3));
  const cut = join(folder, 'masked-cut');
  await run('--out', cut, '--tile', '16');
  assert.equal(readJson(cut, 'job.json').digest, readJson(out, 'job.json').digest);
});

test('a mask of the full picture counts at a level, by the pixel at the centre', async () => {
  const [width, height] = [200, 120];
  const source = join(folder, 'pyramid.tif');
  const pixels = Uint8Array.from({ length: width * height }, (_, i) => (i * i * 7 + i) % 251);
  await sharp(pixels, { raw: { width, height, channels: 1 } })
    .toColourspace('b-w')
    .tiff({ tile: true, tileWidth: 32, tileHeight: 32, pyramid: true, compression: 'none' })
    .toFile(source);
  const full = Uint8Array.from({ length: width * height }, (_, i) => (i % 7 === 0 || i % width > 150 ? 0 : 1));
  // The second level has a quarter of each side: the centres of its pixels are in pixels 2, 6, 10 …
  const level = { width: width / 4, height: height / 4 };
  const small = Uint8Array.from({ length: level.width * level.height }, (_, i) => {
    return full[(4 * Math.floor(i / level.width) + 2) * width + 4 * (i % level.width) + 2]!;
  });
  await writePgm(join(folder, 'full.pgm'), { width, height, pixels: full });
  await writePgm(join(folder, 'level.pgm'), { ...level, pixels: small });
  await writePgm(join(folder, 'other.pgm'), { width: 100, height: 60, pixels: new Uint8Array(6000) });
  const run = async (mask: string, out: string, ...more: string[]) => {
    const args = ['--level', '2', '--mask', join(folder, mask), '--out', join(folder, out), ...more];
    return (await cluster!.halogrid(['run', source, ...args])).code;
  };
  const digest = (out: string): string => readJson(join(folder, out), 'job.json').digest;
  assert.equal(await run('level.pgm', 'by level'), 0);
  assert.equal(await run('full.pgm', 'by full'), 0);
  assert.equal(await run('full.pgm', 'by full, cut', '--tile', '16'), 0);
  assert.deepEqual([digest('by full'), digest('by full, cut')], [digest('by level'), digest('by level')]);
  assert.ok(readHistogram(join(folder, 'by level')).bins.some((count: number) => count > 0));
  assert.equal(await run('other.pgm', 'by other'), 3);
  assert.match(
    readErrors(join(folder, 'by other'))[0]!.error,
    /other\.pgm' cannot be used: it is 100 x 60, and the image '.*pyramid\.tif' is 50 x 30, and its largest level 200 x 120$/,
  );
});

test('a mask of another size, and masks that are not there', async () => {
  const [images, mask] = [join(folder, 'images', 'a.pgm'), join(folder, 'small.pgm')];
  await writePgm(mask, { width: 2, height: 3, pixels: new Uint8Array(6) });
  const out = join(folder, 'small');
  assert.equal((await cluster!.halogrid(['run', images, '--mask', mask, '--out', out])).code, 3);
  assert.match(
    readErrors(out)[0]!.error,
    /^The mask 'file:.*small\.pgm' cannot be used: it is 2 x 3, and the image 'file:.*a\.pgm' is 61 x 40$/,
  );
  const { code, stderr } = await cluster!.halogrid(['run', images, '--mask', join(folder, 'nowhere')]);
  assert.equal(code, 2);
  assert.match(stderr, /There are no masks at '.*nowhere' \(--mask\)/);
});
