import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { createBitPlane, hasBit } from '@halogrid/geometry';
import { InputError } from '@halogrid/sources';
import { temporaryFolder } from '@halogrid/sources/testing-files';
import { askPython, pythonFails } from '@halogrid/testing';
import fc from 'fast-check';
import { openImage } from '../../open-image.ts';
import { noGaps, planes } from '../../testing/images.ts';
import { lercBlobs } from './lerc-blobs.ts';
import { scaleSamples } from './scale-samples.ts';

// GDAL writes files in LERC, all in one call, and says what it reads back from them: only so is it sure that a decoder
// of another house gives the same numbers. Mutants of them show that damage is a sentence.

const lacksGdal = pythonFails(
  "from osgeo import gdal; assert 'LERC' in gdal.GetDriverByName('GTiff').GetMetadata()['DMD_CREATIONOPTIONLIST']",
);

const script = `
import json, sys, base64, numpy
from osgeo import gdal
gdal.UseExceptions()
folder = sys.argv[1]
random = numpy.random.RandomState(3)
width, height = 150, 70
names = {'uint8': gdal.GDT_Byte, 'int16': gdal.GDT_Int16, 'uint16': gdal.GDT_UInt16, 'uint32': gdal.GDT_UInt32, 'float32': gdal.GDT_Float32, 'float64': gdal.GDT_Float64}
cases = []
def make(name, kind, options, bands=1, band=1, lost=False):
    path = f'{folder}/{name}.tif'
    file = gdal.GetDriverByName('GTiff').Create(path, width, height, bands, names[kind], options)
    for i in range(bands):
        x, y = numpy.meshgrid(numpy.arange(width), numpy.arange(height))
        pixels = 100 + 50 * numpy.sin(x / 9 + i) + 40 * numpy.cos(y / 7) + random.uniform(-3, 3, (height, width))
        if kind == 'int16': pixels = pixels - 130
        pixels = pixels.astype(kind)
        if lost: pixels[20:40, 30 + 9 * i:120] = numpy.nan
        file.GetRasterBand(i + 1).WriteArray(pixels)
    file = None
    opened = gdal.Open(path)
    read = opened.GetRasterBand(band).ReadAsArray()
    cases.append({'name': name, 'band': band, 'samples': base64.b64encode(read.astype('<f8').tobytes()).decode()})
tiles, strips = ['TILED=YES', 'BLOCKXSIZE=64', 'BLOCKYSIZE=32'], ['BLOCKYSIZE=32']
for kind in ['uint8', 'int16', 'uint16', 'float32']:
    for packing in ['LERC', 'LERC_DEFLATE', 'LERC_ZSTD']:
        for error in ['0', '0.1']:
            for blocks, form in [('tiles', tiles), ('strips', strips)]:
                make(f'{kind}-{packing}-{error}-{blocks}', kind, form + [f'COMPRESS={packing}', f'MAX_Z_ERROR={error}'])
make('uint32', 'uint32', tiles + ['COMPRESS=LERC'])
make('float64', 'float64', tiles + ['COMPRESS=LERC_ZSTD'])
make('lost', 'float32', tiles + ['COMPRESS=LERC_ZSTD'], lost=True)
make('big-endian', 'uint16', tiles + ['COMPRESS=LERC', 'ENDIANNESS=BIG'])
make('pixels', 'uint8', tiles + ['COMPRESS=LERC', 'PHOTOMETRIC=RGB'], 3, 2)
make('planes', 'uint8', tiles + ['COMPRESS=LERC_DEFLATE', 'PHOTOMETRIC=RGB', 'INTERLEAVE=BAND'], 3, 2)
make('alpha', 'uint8', tiles + ['COMPRESS=LERC', 'PHOTOMETRIC=RGB', 'ALPHA=YES'], 4, 2)
print(json.dumps(cases))
`;

const [width, height] = [150, 70];
const scale = { min: -60, max: 200, bits: 16 } as const;

test('LERC is read to what GDAL reads, with its masks, and damage of it is a sentence', {
  skip: lacksGdal,
}, async (t) => {
  const folder = await temporaryFolder(t);
  const cases: { name: string; band: number; samples: string }[] = JSON.parse(askPython(script, [folder]));
  const region = { x: 0, y: 0, width, height };
  for (const { name, band, samples } of cases) {
    const image = await openImage(pathToFileURL(join(folder, `${name}.tif`)).href, {
      band: { numbers: [band] },
      scale,
    });
    const plane = createBitPlane({ width, height });
    const target = planes(width, height, 'gray', noGaps, 'u16');
    await image.decode(region, { ...target, noData: { value: Number.NaN, planes: [plane], x: 0, y: 0 } });
    await image.close();
    const read = new Float64Array(new Uint8Array(Buffer.from(samples, 'base64')).buffer);
    const { buffer, byteOffset } = target.bytes;
    const pixels = new Uint16Array(buffer, byteOffset, width * height);
    const wanted = scaleSamples(read, scale);
    assert.equal(
      pixels.findIndex((pixel, i) => pixel !== wanted[i]),
      -1,
      name,
    );
    const lost = [...read.keys()].filter((i) => Number.isNaN(read[i]));
    const marked = [...read.keys()].filter((i) => hasBit(plane, i % width, Math.floor(i / width)));
    assert.deepEqual(marked, lost, name);
    assert.equal(lost.length > 0, name === 'lost');
  }
  const seeds = ['float32-LERC-0-tiles', 'uint8-LERC_ZSTD-0.1-strips', 'pixels', 'alpha', 'lost'].map((name) =>
    readFileSync(join(folder, `${name}.tif`)),
  );
  const mutant = join(folder, 'mutant.tif');
  const change = fc.tuple(fc.double({ min: 0, max: 0.9999, noNaN: true }), fc.integer({ min: 0, max: 255 }));
  const changed = fc.asyncProperty(
    fc.constantFrom(...seeds),
    fc.array(change, { maxLength: 4 }),
    async (seed, changes) => {
      const bytes = Buffer.from(seed);
      for (const [place, value] of changes) bytes[Math.floor(place * bytes.length)] = value;
      writeFileSync(mutant, bytes);
      try {
        const image = await openImage(pathToFileURL(mutant).href, { band: { numbers: [1] }, scale });
        const size = image.readsRegions ? { width: 1, height: 1 } : image;
        const isSmall = size.width * size.height <= 2 ** 20;
        const whole = { x: 0, y: 0, width: size.width, height: size.height };
        const target = planes(isSmall ? size.width : 1, isSmall ? size.height : 1, 'gray', noGaps, image.pixel);
        await (isSmall ? image.decode(whole, target) : undefined)?.finally(() => image.close());
        if (!isSmall) await image.close();
      } catch (error) {
        if (!(error instanceof InputError)) throw error;
      }
    },
  );
  await fc.assert(changed, { numRuns: Number(process.env.HALOGRID_LERC_MUTANTS ?? 60) });
});

test('a header decides before anything is decoded', () => {
  const block = { width: 64, height: 32, samples: 1, bits: 32, kind: 'float' };
  const header = (change: Record<number, number> = {}): Uint8Array => {
    const bytes = Buffer.alloc(100);
    bytes.write('Lerc2 ', 'latin1');
    const numbers = { 6: 4, 14: 32, 18: 64, 22: 1, 26: 2048, 30: 8, 34: 100, 38: 6, ...change };
    for (const [at, value] of Object.entries(numbers)) bytes.writeInt32LE(value, Number(at));
    return bytes;
  };
  assert.deepEqual(lercBlobs(header(), block), { bands: 1, depth: 1, type: 6 });
  const damaged: Record<number, number>[] = [
    { 0: 0 },
    { 6: 3 },
    { 6: 7 },
    { 14: 2 ** 31 - 1 },
    { 18: 65 },
    { 22: 0 },
    { 22: 2 ** 30 },
    { 34: 101 },
  ];
  for (const change of [...damaged, { 34: -1 }, { 34: 0 }, { 38: 1 }])
    assert.equal(lercBlobs(header(change), block), undefined, JSON.stringify(change));
  for (const length of [0, 5, 65, 99]) assert.equal(lercBlobs(header().subarray(0, length), block), undefined);
});
