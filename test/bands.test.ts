import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { ServingCluster } from './cluster.ts';
import { command } from './command.ts';
import { lacksPython, pythonPackage, runPython } from './python.ts';
import { readChannels, readJson } from './results.ts';
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
    # GDAL shows the names of bands of maps with a place.
    file.SetGeoTransform((500000, 10, 0, 4600000, 0, -10))
    for i, band in enumerate(values):
        if nodata is not None: file.GetRasterBand(i + 1).SetNoDataValue(nodata)
        file.GetRasterBand(i + 1).WriteArray(band)
scene = random.uniform(-2, 2, (bands, height, width)).astype('float32')
scene[:, 20:30, 40:60] = numpy.nan
# Bands count different pixels.
scene[1, 70:90, 5:25] = numpy.nan
tiles = ['TILED=YES', 'BLOCKXSIZE=64', 'BLOCKYSIZE=32', 'COMPRESS=ZSTD', 'PREDICTOR=3', 'INTERLEAVE=PIXEL']
write('float.tif', scene, gdal.GDT_Float32, tiles)
write('strips.tif', scene, gdal.GDT_Float32, ['COMPRESS=DEFLATE', 'INTERLEAVE=BAND'])
# Only NaN becomes 0, which stands for no value then.
scaled = numpy.floor((scene[2].astype('float64') + 2.1) * 65535 / 4.2 + 0.5)
write('gray/float.tif', [numpy.nan_to_num(scaled, nan=0).astype('uint16')], gdal.GDT_UInt16, [], 0)
write('gray/strips.tif', [numpy.nan_to_num(scaled, nan=0).astype('uint16')], gdal.GDT_UInt16, [], 0)
`;

// The names of the bands of maps; each band must equal that of the map of the band alone.
const maps = `
import json, sys, numpy
from osgeo import gdal
package, folder, together, *alone = sys.argv[1:]
names = {}
for pipeline in ['lbp', 'ldp']:
    for scene in ['float', 'strips']:
        map = lambda out: gdal.Open(f'{folder}/{out}/pipelines/{pipeline}/maps/{scene}.tif')
        parts = [map(out).ReadAsArray() for out in alone]
        parts = numpy.concatenate([part.reshape((-1,) + part.shape[-2:]) for part in parts])
        file = map(together)
        assert (file.ReadAsArray() == parts).all(), pipeline
        names[pipeline] = [file.GetRasterBand(i + 1).GetDescription() for i in range(file.RasterCount)]
sys.path.insert(0, package)
import halogrid
features = halogrid.load(f'{folder}/{together}', pipeline='ldp')
assert features.channels == names['ldp'] and features.matrix.shape == (2, 8 * 256)
print(json.dumps(names))
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
  assert.deepEqual([specification.band, specification.scale], [{ numbers: [3] }, { min: -2.1, max: 2.1, bits: 16 }]);
});

test('several bands are channels: each has the counts and map of the band alone, also in a second run', {
  skip: lacksGdal,
}, async () => {
  const args = ['--scale', '-2.1,2.1', '--map', 'tiff', '--pipeline', 'lbp=lbp', '--pipeline', 'ldp=ldp:order=2'];
  const run = async (out: string, ...more: string[]): Promise<string> => {
    const { code, stderr, stdout } = await cluster!.halogrid([
      'run',
      ...scene(),
      '--out',
      join(folder, out),
      ...args,
      ...more,
    ]);
    assert.equal(code, 0, stderr);
    return stdout;
  };
  await run('two', '--band', '4,2', '--tile', '64');
  await run('four', '--band', '4');
  await run('fourth and second', '--band', '2');
  const two = readJson(folder, 'two/pipelines/ldp/histogram.json');
  const alone = ['four', 'fourth and second'].map((out) => readChannels(join(folder, out, 'pipelines/ldp')));
  const names = ['band 4', 'band 2'].flatMap((band) => [0, 45, 90, 135].map((angle) => `${band}, ${angle}`));
  assert.deepEqual(two.chosen, { band: { numbers: [4, 2] }, scale: { min: -2.1, max: 2.1, bits: 8 } });
  assert.deepEqual(
    two.channels.map(({ name }: { name: string }) => name),
    names,
  );
  const binsOf = ({ channels }: ReturnType<typeof readChannels>) => channels.map(({ bins }) => bins);
  assert.deepEqual(binsOf(two), alone.flatMap(binsOf));
  assert.deepEqual([two.bands, two.input, two.counted], [[4, 2], ['gray'], alone[0]!.counted]);
  const shown = await runPython(['-c', maps, join(pythonPackage, 'src'), folder, 'two', 'four', 'fourth and second']);
  assert.deepEqual(JSON.parse(shown.stdout), { lbp: ['band 4', 'band 2'], ldp: names }, shown.stderr);
  const to = join(folder, 'index');
  const index = await command(['index', join(folder, 'two'), '--pipeline', 'ldp', '--to', to]);
  assert.equal(index.code, 0, index.stderr);
  // An image that is asked for is read as the images of the index were.
  const [first] = scene();
  const found = await command(['search', first!, '--index', to, '--distance', 'l1', '--device', 'cpu', '--json']);
  assert.equal(found.code, 0, found.stderr);
  const [{ results }] = JSON.parse(found.stdout);
  assert.equal(results[0].score, 0);
  const region = await command(['search', first!, '--index', to, '--region', '0,0,64x64', '--device', 'cpu']);
  assert.match(region.stderr, /holds histograms of bands 4, 2, and parts of images and pictures are read in one band/);
  const mixed = await command(['index', join(folder, 'four'), '--pipeline', 'ldp', '--to', to]);
  assert.match(mixed.stderr, /band is 4 there and 4,2 here/);
  // The same again keeps every result, other bands are refused.
  await run('two', '--band', '4,2', '--tile', '64');
  assert.equal(readJson(join(folder, 'two'), 'job.json').incremental.kept, 2);
  const other = await cluster!.halogrid(['run', ...scene(), '--out', join(folder, 'two'), ...args, '--band', 'all']);
  assert.equal(other.code, 2);
  assert.match(other.stderr, /--band is all \(5\) and was 4,2/);
});

test('all bands are as many as the first input has, and others are quarantined', { skip: lacksGdal }, async () => {
  const all = ['--band', 'all', '--scale', '-2.1,2.1', '--map', 'none'];
  const other = join(folder, 'gray', 'float.tif');
  assert.deepEqual(await errorsOf('all', [...scene(), other], ...all), [
    'The job reads all 5 bands of its first input (--band all), and the TIFF has 1 band',
  ]);
  const { specification } = readJson(join(folder, 'all'), 'job.json');
  assert.deepEqual(specification.band, { numbers: [1, 2, 3, 4, 5], all: true });
  const { channels, counted } = readChannels(join(folder, 'all'));
  assert.deepEqual(
    channels.map(({ name }: { name: string }) => name),
    [1, 2, 3, 4, 5].map((band) => `band ${band}`),
  );
  assert.ok(counted > 0);
  const png = fileURLToPath(new URL('../samples/images', import.meta.url));
  const { code, stderr } = await cluster!.halogrid(['run', png, '--out', join(folder, 'png'), ...all]);
  assert.equal(code, 2, stderr);
  assert.match(
    stderr,
    /^halogrid: Expected a TIFF or JPEG 2000 as the first input, because --band all reads as many bands as it has, but /m,
  );
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
    'The TIFF has 5 bands that are not colours: choose with --band, 1 to 5 or all',
  ]);
  assert.deepEqual(await errors('band 6', '--scale', '0,1', '--band', '6'), [
    'The job reads band 6 (--band), and the TIFF has 5 bands',
  ]);
  assert.deepEqual(await errors('bands 2 and 6', '--scale', '0,1', '--band', '2,6'), [
    'The job reads bands 2, 6 (--band), and the TIFF has 5 bands',
  ]);
  assert.match((await errors('no scale', '--band', '1')).join(), /^32-bit floating-point samples need --scale /);
});

test('images that are not TIFFs, and videos, have no bands', { skip: lacksGdal }, async () => {
  const samples = ['images', 'videos'].map((name) => fileURLToPath(new URL(`../samples/${name}`, import.meta.url)));
  assert.deepEqual(await errorsOf('others', samples, '--band', '1'), [
    'The job reads a band (--band), which only TIFF and JPEG 2000 have: exclude other images, or process them in a job of their own',
    'The job reads a band or scaled samples of TIFFs (--band, --scale): exclude videos, or process them in a job of their own',
  ]);
});
