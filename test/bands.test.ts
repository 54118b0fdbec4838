import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { ServingCluster } from './cluster.ts';
import { lacksPython, runPython } from './python.ts';
import { readJson } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';
import { sharedCluster } from './shared-cluster.ts';

// GDAL writes a scene, and each band as a gray file of its own: the only test in which the whole program, from the
// options to the nodes, reads a band and scaled samples of tiles, strips, whole frames and copies.

const lacksGdal = lacksPython('osgeo', 'numpy');
const folder = scratchFolder();

const make = `
import sys, numpy
from osgeo import gdal
gdal.UseExceptions()
height, width, bands = 150, 230, 5
random = numpy.random.RandomState(5)
def write(name, values, kind, options, nodata=None):
    file = gdal.GetDriverByName('GTiff').Create(f'{sys.argv[1]}/{name}', width, height, len(values), kind, options)
    for i, band in enumerate(values):
        if nodata is not None: file.GetRasterBand(i + 1).SetNoDataValue(nodata)
        file.GetRasterBand(i + 1).WriteArray(band)
scene = random.uniform(-2, 2, (bands, height, width)).astype('float32')
scene[:, 20:30, 40:60] = numpy.nan
tiles = ['TILED=YES', 'BLOCKXSIZE=64', 'BLOCKYSIZE=32', 'COMPRESS=ZSTD', 'PREDICTOR=3', 'INTERLEAVE=PIXEL']
write('float.tif', scene, gdal.GDT_Float32, tiles)
write('strips.tif', scene, gdal.GDT_Float32, ['COMPRESS=DEFLATE', 'INTERLEAVE=BAND'])
# Only NaN becomes 0, which stands for no value then.
scaled = numpy.floor((scene[2].astype('float64') + 2.1) * 65535 / 4.2 + 0.5)
write('gray/float.tif', [numpy.nan_to_num(scaled, nan=0).astype('uint16')], gdal.GDT_UInt16, [], 0)
write('gray/strips.tif', [numpy.nan_to_num(scaled, nan=0).astype('uint16')], gdal.GDT_UInt16, [], 0)
`;

let cluster: ServingCluster | undefined;

before(async () => {
  if (lacksGdal) return;
  const { code, stderr } = await runPython(['-c', `import os, sys\nos.mkdir(sys.argv[1] + '/gray')\n${make}`, folder]);
  assert.equal(code, 0, stderr);
  cluster = await sharedCluster('cpu');
});

after(() => cluster?.stop());

const scene = () => ['float', 'strips'].map((name) => join(folder, `${name}.tif`));

test('a band of a scene, scaled, has the results of its gray file for every cut', { skip: lacksGdal }, async () => {
  const run = async (out: string, sources: string[], ...args: string[]) => {
    const { code, stderr } = await cluster!.halogrid(['run', ...sources, '--out', join(folder, out), ...args]);
    assert.equal(code, 0, stderr);
    return readJson(join(folder, out), 'job.json').digest;
  };
  const gray = ['float', 'strips'].map((name) => join(folder, 'gray', `${name}.tif`));
  const expected = await run('of gray', gray, '--map', 'tiff');
  const read = ['--band', '3', '--scale', '-2.1,2.1,u16'];
  assert.equal(await run('whole', scene(), ...read, '--map', 'tiff'), expected);
  assert.equal(await run('tiles', scene(), ...read, '--tile', '47'), expected);
  for (const name of ['float', 'strips']) {
    const map = (out: string) => readFileSync(join(folder, out, 'maps', `${name}.tif`));
    assert.ok(map('whole').equals(map('of gray')), name);
  }
  const { specification } = readJson(join(folder, 'whole'), 'job.json');
  assert.deepEqual([specification.band, specification.scale], [{ number: 3 }, { min: -2.1, max: 2.1, bits: 16 }]);
});

/** The reasons for which a run quarantines its inputs. */
async function errorsOf(out: string, sources: string[], ...args: string[]): Promise<string[]> {
  const { code, stderr } = await cluster!.halogrid(['run', ...sources, '--out', join(folder, out), ...args]);
  assert.equal(code, 3, stderr);
  const lines = readFileSync(join(folder, out, 'errors.jsonl'), 'utf8')
    .trim()
    .split('\n');
  return [...new Set(lines.map((line) => JSON.parse(line).error as string))].sort();
}

test('what is not there to read is quarantined with its remedy', { skip: lacksGdal }, async () => {
  const errors = async (out: string, ...args: string[]): Promise<string[]> => {
    const { code } = await cluster!.halogrid(['run', ...scene(), '--out', join(folder, out), ...args]);
    assert.equal(code, 3);
    const lines = readFileSync(join(folder, out, 'errors.jsonl'), 'utf8')
      .trim()
      .split('\n');
    return [...new Set(lines.map((line) => JSON.parse(line).error as string))];
  };
  assert.deepEqual(await errors('no band', '--scale', '0,1'), [
    'The TIFF has 5 bands that are not colours: choose one with --band, 1 to 5',
  ]);
  assert.deepEqual(await errors('band 6', '--scale', '0,1', '--band', '6'), [
    'The job reads band 6 (--band), and the TIFF has 5 bands',
  ]);
  assert.match(
    (await errors('no scale', '--band', '1')).join(),
    /^32-bit floating-point samples are read with --scale /,
  );
});

test('images that are not TIFFs, and videos, have no bands', { skip: lacksGdal }, async () => {
  const samples = ['images', 'videos'].map((name) => fileURLToPath(new URL(`../samples/${name}`, import.meta.url)));
  assert.deepEqual(await errorsOf('others', samples, '--band', '1'), [
    'The job reads a band (--band), which only TIFF and JPEG 2000 have: exclude other images, or process them in a job of their own',
    'The job reads a band or scaled samples of TIFFs (--band, --scale): exclude videos, or process them in a job of their own',
  ]);
});
