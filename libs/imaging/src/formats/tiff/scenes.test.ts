import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { InputError } from '@halogrid/sources';
import { sendFile, startServer } from '@halogrid/sources/testing-servers';
import { askPython, pythonFails, repeated } from '@halogrid/testing';
import fc from 'fast-check';
import { openImage } from '../../open-image.ts';
import type { ReadOptions } from '../../planes/read-options.ts';
import { decodeOpen, noGaps, planes, sha256 } from '../../testing/images.ts';

// GDAL makes the files and NumPy scales what GDAL reads of them, all in one call: no other test has samples of these
// types, bands, Zstandard or Predictor 3.

const lacksGdal = pythonFails('import numpy; from osgeo import gdal');

const script = `
import hashlib, itertools, json, sys, numpy
from osgeo import gdal
gdal.UseExceptions()
folder = sys.argv[1]
random = numpy.random.RandomState(11)
width, height, bands = 83, 61, 3
types = {'UInt8': 'uint8', 'Int8': 'int8', 'UInt16': 'uint16', 'Int16': 'int16', 'UInt32': 'uint32', 'Int32': 'int32',
    'Float32': 'float32', 'Float64': 'float64'}
gdal_types = {name: getattr(gdal, 'GDT_' + ('Byte' if name == 'UInt8' else name), None) for name in types}
cases = []
combinations = itertools.product(types, ['NONE', 'LZW', 'DEFLATE', 'ZSTD'], [1, 2, 3], ['PIXEL', 'BAND'])
for number, (type, compress, predictor, interleave) in enumerate(combinations):
    bits = int(''.join(c for c in type if c.isdigit()))
    is_float = type.startswith('Float')
    if gdal_types[type] is None or (predictor > 1 and compress == 'NONE') or (predictor == 3 and not is_float):
        continue
    if predictor == 2 and bits == 64:
        continue
    options = ['COMPRESS=' + compress, 'INTERLEAVE=' + interleave, 'SPARSE_OK=TRUE', 'BIGTIFF=' + ['NO', 'YES'][number % 2]]
    options += ['ENDIANNESS=' + ['LITTLE', 'BIG'][number // 2 % 2], 'PHOTOMETRIC=MINISBLACK']
    if compress != 'NONE':
        options.append(f'PREDICTOR={predictor}')
    is_tiled = number % 3 > 0
    options += ['TILED=YES', 'BLOCKXSIZE=32', 'BLOCKYSIZE=16'] if is_tiled else ['BLOCKYSIZE=7']
    path = f'{folder}/{number}.tif'
    file = gdal.GetDriverByName('GTiff').Create(path, width, height, bands, gdal_types[type], options)
    for band in range(bands):
        if is_float:
            values = random.uniform(-1.5, 1.5, (height, width)).astype(types[type])
            values[5, 3:9] = numpy.nan
            values[6, 3:5] = [numpy.inf, -numpy.inf]
        else:
            info = numpy.iinfo(types[type])
            values = random.randint(info.min, int(info.max) + 1, (height, width), dtype=types[type])
        # The lower rows are left out.
        file.GetRasterBand(band + 1).WriteArray(values[:48])
    file = None
    file = gdal.Open(path)
    chosen = number % bands + 1
    values = file.GetRasterBand(chosen).ReadAsArray().astype('float64')
    if is_float:
        low, high = -1.0, 1.25
    else:
        span = float(2 ** bits)
        low = float(numpy.iinfo(types[type]).min) + numpy.floor(span / 7)
        high = low + numpy.floor(span / 2)
    deep = number % 4 < 2
    most = 65535 if deep else 255
    with numpy.errstate(all='ignore'):
        scaled = numpy.clip(numpy.floor((values - low) * most / (high - low) + 0.5), 0, most)
    pixels = numpy.nan_to_num(scaled, nan=0.0).astype('<u2' if deep else 'u1')
    case = {'name': f'{type} {" ".join(options)}', 'number': number, 'tiled': is_tiled, 'band': chosen,
        'scale': {'min': low, 'max': high, 'bits': 16 if deep else 8}, 'sha256': hashlib.sha256(pixels.tobytes()).hexdigest()}
    if type in ('UInt8', 'UInt16'):
        stored = file.GetRasterBand(chosen).ReadAsArray().astype('<u2' if bits == 16 else 'u1')
        case['stored'] = hashlib.sha256(stored.tobytes()).hexdigest()
    cases.append(case)
print(json.dumps(cases))
`;

interface Made {
  name: string;
  number: number;
  tiled: boolean;
  band: number;
  scale: { min: number; max: number; bits: number };
  /** The hash of the scaled band, and of the band as it is stored. */
  sha256: string;
  stored?: string;
}

const folder = mkdtempSync(join(tmpdir(), 'halogrid-scenes-'));
after(() => rmSync(folder, { recursive: true }));

let made: Made[] = [];
before(() => {
  if (lacksGdal) return;
  made = JSON.parse(askPython(script, [folder]));
});

const readWhole = async (uri: string, read: ReadOptions): Promise<string> => {
  const image = await openImage(uri, read);
  try {
    return sha256(await decodeOpen(image));
  } finally {
    await image.close();
  }
};

test('bands of all types, codecs, predictors and interleaves equal what GDAL reads', { skip: lacksGdal }, async (t) => {
  assert.ok(made.length > 80, String(made.length));
  const server = await startServer((request, response) => {
    sendFile({ bytes: readFileSync(join(folder, request.url!.slice(1))), etag: '"x"' }, request, response);
  });
  t.after(() => server.close());
  for (const { name, number, band, scale, sha256: expected, stored } of made) {
    const uri = pathToFileURL(join(folder, `${number}.tif`)).href;
    const read = { band: { numbers: [band] }, scale };
    assert.equal(await readWhole(uri, read), expected, name);
    if (number % 5 === 0) assert.equal(await readWhole(`${server.origin}/${number}.tif`, read), expected, name);
    if (stored) assert.equal(await readWhole(uri, { band: { numbers: [band] } }), stored, name);
  }
});

test('a region of a scene equals that part of the whole', { skip: lacksGdal }, async () => {
  for (const { name, number, band, scale, tiled } of made) {
    if (!tiled) continue;
    const read = { band: { numbers: [band] }, scale };
    const image = await openImage(pathToFileURL(join(folder, `${number}.tif`)).href, read);
    const whole = Buffer.from(await decodeOpen(image));
    const unit = scale.bits / 8;
    const [x, y, width, height] = [29, 14, 40, 21];
    const target = planes(width, height, 'gray', noGaps, image.pixel);
    await image.decode({ x, y, width, height }, target);
    for (let row = 0; row < height; row++) {
      const from = ((y + row) * image.width + x) * unit;
      const part = whole.subarray(from, from + width * unit);
      assert.deepEqual(Buffer.from(target.bytes).subarray(row * width * unit, (row + 1) * width * unit), part, name);
    }
    await image.close();
  }
});

test('a damaged scene is decoded or refused in one sentence', { skip: lacksGdal }, async () => {
  const files = made.map((made) => ({ made, bytes: readFileSync(join(folder, `${made.number}.tif`)) }));
  const path = join(folder, 'damaged.tif');
  const change = fc.record({ at: fc.nat(), near: fc.nat(2), value: fc.nat(255) });
  const changes = fc.array(change, { minLength: 1, maxLength: 4 });
  const property = fc.asyncProperty(fc.constantFrom(...files), changes, async ({ made, bytes }, damage) => {
    const damaged = Buffer.from(bytes);
    for (const { at, near, value } of damage) {
      damaged[at % [bytes.length, 64, 700][near]!] = value;
    }
    writeFileSync(path, damaged);
    try {
      const read = { band: { numbers: [made.band] }, scale: made.scale };
      const image = await openImage(pathToFileURL(path).href, { ...read, maxWholePixels: 2 ** 20 });
      const region = image.readsRegions ? { x: 0, y: 0, width: 1, height: 1 } : { ...image, x: 0, y: 0 };
      const { width, height } = region;
      const to = planes(width, height, 'gray', noGaps, image.pixel);
      await image.decode({ x: 0, y: 0, width, height }, to).finally(() => image.close());
    } catch (error) {
      assert.ok(error instanceof InputError, `${made.name}: ${(error as Error).stack}`);
      assert.match(error.message, /^\S[^\n]*[^\s.:]$/, made.name);
    }
  });
  await fc.assert(property, { numRuns: repeated(120, 1200) });
});
