import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { ServingCluster } from './cluster.ts';
import { readHistogram, readJson } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';
import { sharedCluster } from './shared-cluster.ts';

// GDAL writes scenes with NoData and NumPy counts their codes: the only test in which the whole program leaves pixels
// out, from the tag of a file to histogram and map.

const python = '/usr/bin/python3';
const lacksGdal = spawnSync(python, ['-c', 'from osgeo import gdal']).status !== 0 && `${python} has no module osgeo`;
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

const runPython = (script: string, ...args: string[]) => {
  const { stdout, stderr } = spawnSync(python, ['-c', script, ...args], { encoding: 'utf8' });
  assert.ok(stdout, stderr);
  return JSON.parse(stdout);
};

let expected: { without: number[]; all: number[] };
let cluster: ServingCluster | undefined;

before(async () => {
  if (lacksGdal) return;
  expected = runPython(make, folder);
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
  assert.deepEqual(runPython(look, await map('conv:kernel=sobel-x,as=i16')), { noData: -32768, out: 22 * 52 });
  assert.equal(runPython(look, await map('lbp')).noData, null);
});
