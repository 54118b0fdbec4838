import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { PixelType } from '@halogrid/geometry';
import { sendFile, startServer } from '@halogrid/sources/testing-servers';
import { askPython, pythonFails } from '@halogrid/testing';
import { openImage } from '../../open-image.ts';
import type { ReadOptions } from '../../planes/read-options.ts';
import { decodeOpen, noGaps, planes, sha256 } from '../../testing/images.ts';

// GDAL and opj_compress make the files, and NumPy or GDAL says what they hold, all in one call: no other test decodes
// JPEG 2000. Lossless files must have the samples that were written, smaller levels those that GDAL decodes.

const lacksOpj = spawnSync('opj_compress', ['-h']).error !== undefined && 'opj_compress is not installed';
const lacks =
  lacksOpj || pythonFails("import tifffile; from osgeo import gdal; assert gdal.GetDriverByName('JP2OpenJPEG')");

const script = `
import hashlib, json, subprocess, sys, numpy, tifffile
from osgeo import gdal
gdal.UseExceptions()
folder = sys.argv[1]
width, height = 213, 157
cases = []
def smooth(seed, most, w=width, h=height):
    y, x = numpy.mgrid[0:h, 0:w]
    noise = numpy.random.RandomState(seed).normal(0, most / 40, (h, w))
    return numpy.clip((numpy.sin(x / 17 + seed) + numpy.cos(y / 13)) * most / 5 + most / 2 + noise, 0, most).astype('int64')
def digest(planes, deep):
    return hashlib.sha256(numpy.stack(planes).astype('<u2' if deep else 'u1').tobytes()).hexdigest()
def luma(r, g, b):
    return (19595 * r + 38470 * g + 7471 * b + 32768) >> 16
def add(name, path, planes, deep, tiled, read={}):
    gray = planes[0] if len(planes) == 1 else luma(*planes)
    rgb = list(planes) * 3 if len(planes) == 1 else planes
    cases.append({'name': name, 'path': path, 'read': read, 'tiled': tiled, 'pixel': 'u16' if deep else 'u8',
        'height': gray.shape[0], 'width': gray.shape[1], 'gray': digest([gray], deep), 'rgb': digest(rgb, deep)})
def write(name, planes, type, options, colours=None, table=None):
    memory = gdal.GetDriverByName('MEM').Create('', width, height, len(planes), type)
    for i, plane in enumerate(planes):
        band = memory.GetRasterBand(i + 1)
        band.WriteArray(plane)
        if colours: band.SetColorInterpretation(colours[i])
        if table: band.SetRasterColorTable(table)
    path = folder + '/' + name
    gdal.GetDriverByName('JP2OpenJPEG').CreateCopy(path, memory, options=['QUALITY=100', 'REVERSIBLE=YES'] + options)
    return path
rgb = [gdal.GCI_RedBand, gdal.GCI_GreenBand, gdal.GCI_BlueBand]
tiles = ['BLOCKXSIZE=64', 'BLOCKYSIZE=64']
forms = {
    'one tile': [], 'tiles': tiles, 'odd tiles': ['BLOCKXSIZE=53', 'BLOCKYSIZE=41', 'RESOLUTIONS=3'],
    'precincts': tiles + ['PRECINCTS={64,64},{32,64},{16,16}', 'RESOLUTIONS=3', 'PROGRESSION=RPCL', 'PLT=YES'],
    'parts': tiles + ['TILEPARTS=RESOLUTIONS', 'TLM=YES', 'PROGRESSION=RLCP'],
    'blocks': ['BLOCKXSIZE=128', 'BLOCKYSIZE=96', 'CODEBLOCK_WIDTH=16', 'CODEBLOCK_HEIGHT=32', 'SOP=YES', 'EPH=YES', 'PROGRESSION=PCRL'],
    'plain': tiles + ['CODEC=J2K', 'PROGRESSION=CPRL'],
}
number = 0
for form, options in forms.items():
    for bits in (8, 12, 16):
        for count in (1, 3):
            number += 1
            deep = bits > 8
            planes = [smooth(number + i, 2 ** bits - 1) for i in range(count)]
            nbits = ['NBITS=12'] if bits == 12 else []
            ycc = ['YCC=' + ('YES' if number % 4 else 'NO')] if count == 3 else []
            type = gdal.GDT_UInt16 if deep else gdal.GDT_Byte
            extension = '.j2k' if form == 'plain' else '.jp2'
            path = write(f'{number}{extension}', planes, type, options + nbits + ycc, rgb[:count] if count == 3 else None)
            add(f'{form}, {bits} bits, {count} bands', path, planes, deep, form != 'one tile')
            file = gdal.Open(path)
            overviews = file.GetRasterBand(1).GetOverviewCount()
            for level in range(1, min(overviews, 2) + 1):
                smaller = [file.GetRasterBand(i + 1).GetOverview(level - 1).ReadAsArray().astype('int64') for i in range(count)]
                add(f'level {level} of {form}, {bits} bits, {count} bands', path, smaller, deep, form != 'one tile', {'level': {'number': level}})
bands = [smooth(40 + i, 255) for i in range(5)]
path = write('bands.jp2', bands, gdal.GDT_Byte, tiles + ['YCC=NO'])
for band in range(5):
    add(f'band {band + 1}', path, [bands[band]], False, True, {'band': {'numbers': [band + 1]}})
alpha = write('alpha.jp2', bands[:4], gdal.GDT_Byte, tiles, rgb + [gdal.GCI_AlphaBand])
add('alpha', alpha, bands[:3], False, True)
alpha = write('gray-alpha.jp2', bands[:2], gdal.GDT_Byte, tiles, [gdal.GCI_GrayIndex, gdal.GCI_AlphaBand])
add('gray and alpha', alpha, bands[:1], False, True)
few = bands[0] % 5
table = gdal.ColorTable()
for i in range(5): table.SetColorEntry(i, (50 * i, 255 - 31 * i, 7 * i * i, 255))
palette = write('palette.jp2', [few], gdal.GDT_Byte, tiles, [gdal.GCI_PaletteIndex], table)
columns = numpy.array([[50 * i, 255 - 31 * i, 7 * i * i] for i in range(5)])
add('a palette', palette, [columns[:, i][few] for i in range(3)], False, True)
for bits in (1, 3):
    few = bands[0] % 2 ** bits
    path = write(f'bits{bits}.jp2', [few], gdal.GDT_Byte, tiles + [f'NBITS={bits}'])
    add(f'{bits} bits', path, [few * 255 // (2 ** bits - 1)], False, True)
signed = smooth(50, 65535) - 32768
path = write('signed.jp2', [signed], gdal.GDT_Int16, tiles)
scaled = numpy.clip(numpy.floor((signed + 20000.0) * 65535 / 35000 + 0.5), 0, 65535)
add('signed', path, [scaled.astype('int64')], True, True, {'scale': {'min': -20000, 'max': 15000, 'bits': 16}})
with open(folder + '/in.pgm', 'wb') as file:
    file.write(b'P5\\n%d %d\\n255\\n' % (width, height) + bands[0].astype('u1').tobytes())
for name, options in {'offset': ['-d', '37,21'], 'offset tiles': ['-d', '37,21', '-t', '50,45', '-T', '5,9', '-n', '3']}.items():
    path = folder + '/' + name.replace(' ', '-') + '.j2k'
    subprocess.run(['opj_compress', '-i', folder + '/in.pgm', '-o', path] + options, check=True, capture_output=True)
    add(name, path, [bands[0]], False, 'tiles' in name)
    for level in (1, 2):
        small = f'{path}.{level}.pgm'
        subprocess.run(['opj_decompress', '-i', path, '-o', small, '-r', str(level)], check=True, capture_output=True)
        plain = gdal.Open(small).ReadAsArray().astype('int64')
        add(f'level {level} of {name}', path, [plain], False, 'tiles' in name, {'level': {'number': level}})
lossy = write('lossy.jp2', [bands[0]], gdal.GDT_Byte, tiles + ['REVERSIBLE=NO', 'QUALITY=30'])
add('irreversible', lossy, [gdal.Open(lossy).ReadAsArray().astype('int64')], False, True)
def encoded(block, options):
    memory = gdal.GetDriverByName('MEM').Create('', block.shape[1], block.shape[0], block.shape[2], gdal.GDT_Byte if block.dtype == 'uint8' else gdal.GDT_UInt16)
    for i in range(block.shape[2]): memory.GetRasterBand(i + 1).WriteArray(block[..., i])
    gdal.GetDriverByName('JP2OpenJPEG').CreateCopy('/vsimem/tile.j2k', memory, options=['QUALITY=100', 'REVERSIBLE=YES'] + options)
    file = gdal.VSIFOpenL('/vsimem/tile.j2k', 'rb')
    data = bytes(gdal.VSIFReadL(1, gdal.VSIStatL('/vsimem/tile.j2k').size, file))
    gdal.VSIFCloseL(file)
    return data
tiffs = [('slide.svs', 33005, 3, 'u1', '<'), ('gray.tif', 34712, 1, 'u1', '>'), ('deep.tif', 34712, 1, 'u2', '>'), ('deep-rgb.tif', 33005, 3, 'u2', '<')]
for name, compression, count, type, order in tiffs:
    planes = [smooth(60 + i, 255 if type == 'u1' else 65535) for i in range(count)]
    padded = numpy.pad(numpy.stack(planes, -1).astype(type), ((0, -height % 64), (0, -width % 64), (0, 0)), 'edge')
    blocks = [encoded(padded[y:y + 64, x:x + 64], ['CODEC=J2K']) for y in range(0, height, 64) for x in range(0, width, 64)]
    shape = (height, width, 3) if count == 3 else (height, width)
    with tifffile.TiffWriter(folder + '/' + name, byteorder=order) as file:
        file.write(iter(blocks), shape=shape, dtype=type, tile=(64, 64), compression='deflate', photometric='rgb' if count == 3 else 'minisblack', description='Aperio Image Library v12', metadata=None)
    # tifffile does not write such tiles without another package, but takes them for others.
    with tifffile.TiffFile(folder + '/' + name, mode='r+b') as file: file.pages[0].tags[259].overwrite(compression)
    add(name, folder + '/' + name, planes, type == 'u2', True)
print(json.dumps(cases))
`;

interface Made {
  name: string;
  path: string;
  read: ReadOptions;
  tiled: boolean;
  pixel: PixelType;
  width: number;
  height: number;
  gray: string;
  rgb: string;
}

let folder: string;
let cases: Made[];

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'halogrid-jp2-'));
  if (lacks) return;
  cases = JSON.parse(askPython(script, [folder]));
});

after(() => rmSync(folder, { recursive: true, force: true }));

const uriOf = (made: Made): string => pathToFileURL(made.path).href;

test('samples are those that were written, levels those that others decode', { skip: lacks }, async () => {
  const wrong: string[] = [];
  for (const made of cases) {
    const image = await openImage(uriOf(made), made.read);
    const { width, height, pixel, readsRegions } = image;
    const facts = {
      name: made.name,
      width: made.width,
      height: made.height,
      pixel: made.pixel,
      readsRegions: made.tiled,
    };
    assert.deepEqual({ name: made.name, width, height, pixel, readsRegions }, facts);
    for (const channels of ['gray', 'rgb'] as const) {
      if (sha256(await decodeOpen(image, channels)) !== made[channels]) wrong.push(`${made.name}: ${channels}`);
    }
    await image.close();
  }
  assert.deepEqual(wrong, []);
});

test('several bands are planes in the order in which they are asked for', { skip: lacks }, async () => {
  const uri = uriOf(cases.find(({ name }) => name === 'band 1')!);
  const numbers = [5, 2, 3];
  const image = await openImage(uri, { band: { numbers } });
  const { width, height, bands, grayPlanes } = image;
  assert.deepEqual([bands, grayPlanes], [5, 3]);
  const target = planes(3 * width, height, 'gray', noGaps, 'u8');
  const region = { x: 0, y: 0, width, height };
  await image.decode(region, { ...target, stride: width, planeBytes: width * height });
  const digests = numbers.map((_, i) => sha256(target.bytes.subarray(i * width * height, (i + 1) * width * height)));
  const expected = numbers.map((number) => cases.find(({ name }) => name === `band ${number}`)!.gray);
  assert.deepEqual(digests, expected);
  await image.close();
});

test('a region equals that part of the whole, also from a server', { skip: lacks }, async (t) => {
  const server = await startServer((request, response) => {
    sendFile({ bytes: readFileSync(join(folder, request.url!.slice(1))), etag: '"x"' }, request, response);
  });
  t.after(() => server.close());
  for (const [i, made] of cases.filter(({ tiled }) => tiled).entries()) {
    const image = await openImage(i % 5 > 0 ? uriOf(made) : `${server.origin}/${basename(made.path)}`, made.read);
    const whole = Buffer.from(await decodeOpen(image));
    const unit = made.pixel === 'u16' ? 2 : 1;
    const [width, height] = [made.width - 23, made.height - 19];
    const target = planes(width, height, 'gray', noGaps, image.pixel);
    await image.decode({ x: 21, y: 14, width, height }, target);
    for (let row = 0; row < height; row++) {
      const from = ((14 + row) * made.width + 21) * unit;
      const part = whole.subarray(from, from + width * unit);
      assert.deepEqual(
        Buffer.from(target.bytes).subarray(row * width * unit, (row + 1) * width * unit),
        part,
        made.name,
      );
    }
    await image.close();
  }
});

test('what is not there is refused with what is', { skip: lacks }, async () => {
  const named = (name: string): string => uriOf(cases.find((made) => made.name === name)!);
  const refusals: [name: string, read: ReadOptions, message: string][] = [
    ['band 1', {}, 'The JPEG 2000 has 5 bands that are not colours: choose with --band, 1 to 5 or all'],
    ['band 1', { band: { numbers: [2, 6] } }, 'The job reads bands 2, 6 (--band), and the JPEG 2000 has 5 bands'],
    ['signed', {}, '16-bit signed samples need --scale MIN,MAX: the values that become black and white'],
    [
      'a palette',
      { band: { numbers: [1] } },
      'The samples of a JPEG 2000 in a palette have no bands (--band): those in gray and RGB have',
    ],
    [
      'odd tiles, 8 bits, 1 bands',
      { level: { number: 9 } },
      'The JPEG 2000 has the levels 0 (213x157), 1 (107x79), 2 (54x40) but the job asks for 9',
    ],
    [
      'one tile, 8 bits, 1 bands',
      { level: { microns: 1 } },
      'The JPEG 2000 does not state the size of a pixel, so its level must be named by number: 0 (213x157), 1 (107x79)',
    ],
  ];
  for (const [name, read, message] of refusals) {
    await assert.rejects(openImage(named(name), read), { name: 'InputError', message }, name);
  }
});
