import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { createBitPlane, hasBit } from '@halogrid/geometry';
import { temporaryFolder } from '@halogrid/sources/testing-files';
import { askPython, pythonFails } from '@halogrid/testing';
import { openImage } from '../../open-image.ts';
import type { ReadOptions } from '../../planes/read-options.ts';
import { noGaps, planes } from '../../testing/images.ts';
import { ImageThreads } from '../../threads/image-threads.ts';

// GDAL makes the files, all in one call, and says which pixels its masks leave out. It alone tells whether the samples
// of a file are compared, and not what they are converted to.

const lacksGdal = pythonFails('import numpy; from osgeo import gdal');

const script = `
import json, sys, numpy
from osgeo import gdal
gdal.UseExceptions()
folder = sys.argv[1]
random = numpy.random.RandomState(7)
width, height = 150, 70
cases = []
def make(name, bands, nodata, options, kind=gdal.GDT_Byte, most=12, interpretation=None, table=None):
    driver = gdal.GetDriverByName('GTiff')
    path = f'{folder}/{name}.tif'
    file = driver.Create(path, width, height, bands, kind, options)
    for i in range(bands):
        band = file.GetRasterBand(i + 1)
        if table:
            band.SetColorTable(table)
        if nodata is not None:
            band.SetNoDataValue(nodata)
        pixels = random.randint(0, most, (height, width)).astype('uint16' if kind == gdal.GDT_UInt16 else 'uint8')
        pixels[20:40, 30:120] = 7
        band.WriteArray(pixels)
    file = None
    file = gdal.Open(path)
    out = numpy.ones((height, width), bool)
    for i in range(bands):
        out &= file.GetRasterBand(i + 1).GetMaskBand().ReadAsArray() == 0
    cases.append({'name': name, 'out': ''.join('1' if o else '0' for o in out.ravel())})
tiled = ['TILED=YES', 'BLOCKXSIZE=64', 'BLOCKYSIZE=32']
make('gray-tiles', 1, 7, tiled + ['COMPRESS=DEFLATE', 'PREDICTOR=2'])
make('gray-strips', 1, 7, ['COMPRESS=LZW'])
make('deep', 1, 65535, tiled, gdal.GDT_UInt16, 65536)
make('deep-seven', 1, 7, tiled, gdal.GDT_UInt16)
make('beyond', 1, -9999, tiled)
make('nan', 1, float('nan'), tiled)
make('none', 1, None, tiled)
make('rgb', 3, 7, tiled + ['PHOTOMETRIC=RGB'], most=9)
make('rgb-planes', 3, 7, tiled + ['PHOTOMETRIC=RGB', 'INTERLEAVE=BAND'], most=9)
make('white-is-zero', 1, 7, tiled + ['PHOTOMETRIC=MINISWHITE'])
make('four-bits', 1, 7, tiled + ['NBITS=4'])
table = gdal.ColorTable()
for i in range(16):
    table.SetColorEntry(i, (100, 100, 100, 255) if i > 5 else (i, 2 * i, 3, 255))
make('palette', 1, 7, tiled, table=table)
make('sparse', 1, 7, tiled + ['SPARSE_OK=TRUE'])
def scaled(name, kind, nodata, pixels, options):
    path = f'{folder}/{name}.tif'
    file = gdal.GetDriverByName('GTiff').Create(path, width, height, 1, kind, options)
    if nodata is not None:
        file.GetRasterBand(1).SetNoDataValue(nodata)
    file.GetRasterBand(1).WriteArray(pixels)
    file = None
    file = gdal.Open(path)
    band = file.GetRasterBand(1)
    read = band.ReadAsArray()
    # NaN has no value, whatever GDAL's mask says of it.
    out = (band.GetMaskBand().ReadAsArray() == 0) | numpy.isnan(read)
    cases.append({'name': name, 'isScaled': True, 'out': ''.join('1' if o else '0' for o in out.ravel())})
reals = random.uniform(-50, 50, (height, width)).astype('float32')
reals[10:30, 20:90] = numpy.nan
scaled('real-nan', gdal.GDT_Float32, None, reals, tiled)
scaled('real-tag', gdal.GDT_Float32, -9999, numpy.where(reals > 40, -9999, reals), tiled + ['COMPRESS=ZSTD', 'PREDICTOR=3'])
scaled('real-strips', gdal.GDT_Float64, -9999, numpy.where(reals > 40, -9999, reals), [])
signed = random.randint(-4, 9, (height, width))
scaled('signed', gdal.GDT_Int16, -1, signed, tiled + ['COMPRESS=DEFLATE', 'PREDICTOR=2'])
scaled('signed-beyond', gdal.GDT_Int16, -1e9, signed, tiled)
scaled('long', gdal.GDT_UInt32, 7, signed + 4, tiled)
print(json.dumps({'width': width, 'height': height, 'cases': cases}))
`;

const scale = { min: -20, max: 30, bits: 16 };

interface Made {
  width: number;
  height: number;
  cases: { name: string; isScaled?: boolean; out: string }[];
}

test('the same pixels have no value as by the masks of GDAL, in each kind of file, by region and as a whole', {
  skip: lacksGdal,
}, async (t) => {
  const folder = await temporaryFolder(t);
  const { width, height, cases }: Made = JSON.parse(askPython(script, [folder]));
  const threads = new ImageThreads(1, 1);
  t.after(() => threads.close());
  for (const { name, isScaled, out } of cases) {
    const uri = pathToFileURL(join(folder, `${name}.tif`)).href;
    for (const [channels, open] of [
      ['gray', openImage],
      ['rgb', (asked: string, read?: ReadOptions) => threads.openImage(asked, read)],
    ] as const) {
      const image = await open(uri, isScaled ? { scale } : {});
      const regions = image.readsRegions
        ? [0, 61].map((x) => ({ x, y: 3, width: 89, height: 60 }))
        : [{ x: 0, y: 0, width, height }];
      const value = image.noData ?? Number.NaN;
      for (const region of regions) {
        const plane = createBitPlane({ width: region.width + 5, height: region.height + 2 }, true);
        const target = planes(region.width, region.height, channels, noGaps, image.pixel);
        await image.decode(region, { ...target, noData: { value, planes: [plane], x: 4, y: 1 } });
        for (let y = 0; y < region.height; y++) {
          for (let x = 0; x < region.width; x++) {
            const isOut = out[(region.y + y) * width + region.x + x] === '1';
            assert.equal(hasBit(plane, x + 4, y + 1), isOut, `${name} ${channels} at ${x} ${y}`);
          }
        }
      }
      await image.close();
    }
  }
  assert.ok(cases.filter(({ out }) => out.includes('1')).length >= 9);
});

test('in other formats the decoded gray, or red, green and blue, tell', async (t) => {
  const folder = await temporaryFolder(t);
  const path = join(folder, 'rgb.ppm');
  writeFileSync(path, Buffer.concat([Buffer.from('P6\n3 1\n255\n'), Buffer.of(0, 0, 0, 1, 0, 0, 255, 255, 255)]));
  for (const [channels, value, wanted] of [
    // The luma of (1, 0, 0) is 0.
    ['gray', 0, [true, true, false]],
    ['rgb', 0, [true, false, false]],
    ['rgb', 255, [false, false, true]],
    ['gray', Number.NaN, [false, false, false]],
  ] as const) {
    const image = await openImage(pathToFileURL(path).href);
    assert.equal(image.noData, undefined);
    const plane = createBitPlane({ width: 3, height: 1 });
    const region = { x: 0, y: 0, width: 3, height: 1 };
    await image.decode(region, { ...planes(3, 1, channels), noData: { value, planes: [plane], x: 0, y: 0 } });
    assert.deepEqual(
      [0, 1, 2].map((x) => hasBit(plane, x, 0)),
      wanted,
    );
    await image.close();
  }
});
