import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseOperation } from '@halogrid/kernels';
import { lacksPython, runPython } from './python.ts';
import { hashFiles } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';
import { sharedCluster } from './shared-cluster.ts';

// Maps lie where their sources lie, as GDAL reads both.

/** Writes GeoTIFFs of all kinds of places into a folder. Arguments: the folder. */
const writeSources = `
import sys
import numpy as np
from osgeo import gdal, osr
gdal.UseExceptions()
gdal.SetConfigOption('GDAL_TIFF_OVR_BLOCKSIZE', '64')
pixels = np.random.default_rng(7).integers(0, 256, (300, 280), np.uint8)
north_up, rotated = (500000.5, 10, 0, 5300000.25, 0, -10), (500000.5, 8, 6, 5300000.25, 6, -8)
lambert = '+proj=lcc +lat_1=49 +lat_2=44 +lat_0=46.5 +lon_0=3 +x_0=700000 +y_0=6600000 +ellps=GRS80 +units=m'
def write(name, system, transform, *options, side=None, config={}, points=None):
    data = pixels if side is None else pixels[:side, :side]
    for key, value in config.items(): gdal.SetConfigOption(key, value)
    made = gdal.GetDriverByName('GTiff').Create(f'{sys.argv[1]}/{name}.tif', data.shape[1], data.shape[0], 1, gdal.GDT_Byte, list(options))
    if system:
        reference = osr.SpatialReference()
        reference.SetFromUserInput(system)
        if points is None: made.SetProjection(reference.ExportToWkt())
        else: made.SetGCPs(points, reference.ExportToWkt())
    if transform: made.SetGeoTransform(transform)
    if name == 'of-points': made.SetMetadataItem('AREA_OR_POINT', 'Point')
    made.GetRasterBand(1).WriteArray(data)
    made = None
    for key in config: gdal.SetConfigOption(key, None)
tiles = ('TILED=YES', 'BLOCKXSIZE=64', 'BLOCKYSIZE=64')
write('tiles', 'EPSG:32632', north_up, *tiles)
write('strips', 'EPSG:4326', (7.5, 0.001, 0, 47.25, 0, -0.001), side=200)
write('rotated', 'EPSG:3035', rotated, *tiles)
write('own-system', lambert, north_up, side=100)
write('of-points', 'EPSG:32632', north_up, side=100)
write('big-endian', 'EPSG:32632', north_up, 'ENDIANNESS=BIG', side=100)
write('big', 'EPSG:32632', north_up, 'BIGTIFF=YES', *tiles)
write('no-system', None, north_up, side=100)
write('control-points', 'EPSG:4326', None, side=200, points=[gdal.GCP(7 + i / 10, 47 - j / 10, 0, 40 * i, 30 * j) for i in range(4) for j in range(4)])
write('without', None, None, side=100)
for name in ('tiles', 'rotated', 'of-points', 'control-points', 'without'):
    file = gdal.Open(f'{sys.argv[1]}/{name}.tif', gdal.GA_Update)
    # An eighth of 300 is rounded up.
    file.BuildOverviews('NEAREST', [2, 8])
`;

/**
 * Prints a list of what GDAL says of each file of a folder, by name. Arguments: folders; FOLDER:N means overview N of
 * the files that have some.
 */
const describe = `
import json, os, sys
from osgeo import gdal
gdal.UseExceptions()
def place(path, overview):
    raster = gdal.OpenEx(path, open_options=[f'OVERVIEW_LEVEL={overview}'] if overview else [])
    bands = [raster.GetRasterBand(i + 1).GetDescription() for i in range(raster.RasterCount)]
    points = [(p.GCPPixel, p.GCPLine, p.GCPX, p.GCPY) for p in raster.GetGCPs()]
    return {'size': [raster.RasterXSize, raster.RasterYSize], 'system': raster.GetProjection(), 'points': points,
            'of points': raster.GetGCPProjection(), 'transform': raster.GetGeoTransform(can_return_null=True),
            'is': raster.GetMetadataItem('AREA_OR_POINT') if raster.GetProjection() else None, 'bands': bands}
def has_overviews(path):
    raster = gdal.Open(path)
    return raster.GetRasterBand(1).GetOverviewCount() > 0
def places(argument):
    folder, _, overview = argument.partition(':')
    paths = {name: os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith('.tif')}
    return {name: place(path, overview) for name, path in paths.items() if not overview or has_overviews(path)}
print(json.dumps([places(argument) for argument in sys.argv[1:]]))
`;

const folder = scratchFolder();
const skip = lacksPython('osgeo', 'numpy');

async function python(script: string, ...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await runPython(['-c', script, ...words]);
  assert.equal(code, 0, stderr);
  return stdout;
}

interface Described {
  bands: string[];
}

test('maps have the place of their source, as GDAL reads it, for every cut', { skip }, async (t) => {
  const cluster = await sharedCluster();
  t.after(() => cluster.stop());
  const sources = join(folder, 'sources');
  mkdirSync(sources);
  await python(writeSources, sources);
  const run = async (kernel: string, tilePx: number): Promise<string> => {
    const out = join(folder, `${kernel}-${tilePx}`);
    await cluster.jobs.run({ sources: [sources], out, operations: [parseOperation(kernel)], map: 'tiff', tilePx });
    return join(out, 'maps');
  };
  const outs = [await run('lbp', 128), await run('lbp', 4096), await run('ldp', 4096)];
  assert.deepEqual(hashFiles(outs[1]!), hashFiles(outs[0]!));
  const described: Record<string, Described>[] = JSON.parse(await python(describe, sources, ...outs));
  const [expected, cut, whole, maps] = described as [(typeof described)[0], ...typeof described];
  assert.equal(Object.keys(expected).length, 10);
  for (const lbp of [cut, whole]) assert.deepEqual(lbp, expected);
  for (const [name, { bands, ...place }] of Object.entries(maps!)) {
    const { bands: _, ...source } = expected[name]!;
    assert.deepEqual(place, source);
    assert.equal(bands.length, 4);
    if (name !== 'without.tif') assert.match(bands[1]!, /45/);
  }
});

test('the map of a level lies where GDAL has the overview', { skip }, async (t) => {
  const cluster = await sharedCluster();
  t.after(() => cluster.stop());
  const names = ['control-points', 'of-points', 'rotated', 'tiles', 'without'];
  const sources = names.map((name) => join(folder, 'sources', `${name}.tif`));
  const run = async (level: string): Promise<string> => {
    const out = join(folder, `level-${level}`);
    await cluster.jobs.run({ sources, out, operations: [parseOperation('lbp')], map: 'tiff', tilePx: 128, level });
    return join(out, 'maps');
  };
  const [first, second] = [await run('1'), await run('2')];
  const overviews = [0, 1].map((n) => `${join(folder, 'sources')}:${n}`);
  const [half, eighth, ...maps] = JSON.parse(await python(describe, ...overviews, first, second));
  const files = names.map((name) => `${name}.tif`);
  assert.deepEqual([half, eighth].map(Object.keys), [files, files]);
  assert.deepEqual(maps, [half, eighth]);
});

test('maps in Zarr say their system and transform, by the conventions proj and spatial', { skip }, async (t) => {
  const cluster = await sharedCluster();
  t.after(() => cluster.stop());
  const out = join(folder, 'zarr');
  const sources = join(folder, 'sources');
  await cluster.jobs.run({ sources: [sources], out, operations: [parseOperation('lbp')], map: 'zarr', tilePx: 128 });
  const read = (name: string) =>
    JSON.parse(readFileSync(join(out, 'maps', `${name}.zarr`, 'zarr.json'), 'utf8')).attributes as Record<
      string,
      unknown
    >;
  // As GDAL's geotransform, with the first of each three at its end.
  const northUp = [10, 0, 500000.5, 0, -10, 5300000.25];
  const cases: [name: string, code: string | undefined, transform: number[] | undefined][] = [
    ['tiles', 'EPSG:32632', northUp],
    ['strips', 'EPSG:4326', [0.001, 0, 7.5, 0, -0.001, 47.25]],
    ['rotated', 'EPSG:3035', [8, 6, 500000.5, 6, -8, 5300000.25]],
    ['own-system', undefined, northUp],
    ['of-points', 'EPSG:32632', northUp],
    ['big-endian', 'EPSG:32632', northUp],
    ['no-system', undefined, northUp],
    ['control-points', 'EPSG:4326', undefined],
    ['without', undefined, undefined],
  ];
  for (const [name, code, transform] of cases) {
    const attributes = read(name);
    assert.equal(attributes['proj:code'], code, name);
    assert.deepEqual(attributes['spatial:transform'], transform, name);
    assert.equal(Array.isArray(attributes.zarr_conventions), code !== undefined || transform !== undefined, name);
  }
});
