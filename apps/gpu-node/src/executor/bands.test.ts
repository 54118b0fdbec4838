import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { Rect } from '@halogrid/geometry';
import { openImage } from '@halogrid/imaging';
import { type AskedOperation, createPipeline } from '@halogrid/kernels';
import type { FoundResult, Lease } from '@halogrid/proto';
import { askPython, isThorough, pythonFails, repeated } from '@halogrid/testing';
import fc from 'fast-check';
import { CpuDevice } from '../devices/cpu-device.ts';
import { sharedDevice } from '../devices/testing/shared-device.ts';
import {
  createTestExecutor,
  frameLease,
  type TestFolder,
  tileLease,
  tilesOf,
  withFolder,
} from './testing/shard-fixture.ts';

// GDAL makes scenes with pixels that have no value in some bands. The only test that compares several bands with each
// alone for real files, cuts and devices, counts and maps; test/bands.test.ts compares a band with a gray file.

const lacksGdal = pythonFails('import numpy; from osgeo import gdal');

const script = `
import sys, numpy
from osgeo import gdal
gdal.UseExceptions()
width, height = 90, 70
random = numpy.random.RandomState(4)
for name, bands, kind, most, options in [
    ('tiles', 5, gdal.GDT_Byte, 30, ['TILED=YES', 'BLOCKXSIZE=32', 'BLOCKYSIZE=16', 'COMPRESS=DEFLATE', 'INTERLEAVE=PIXEL']),
    ('four', 4, gdal.GDT_Byte, 30, ['TILED=YES', 'BLOCKXSIZE=32', 'BLOCKYSIZE=16', 'COMPRESS=DEFLATE', 'INTERLEAVE=PIXEL']),
    ('planes', 5, gdal.GDT_UInt16, 60000, ['TILED=YES', 'BLOCKXSIZE=48', 'BLOCKYSIZE=32', 'INTERLEAVE=BAND']),
    ('strips', 5, gdal.GDT_Byte, 250, ['COMPRESS=LZW', 'INTERLEAVE=PIXEL', 'BLOCKYSIZE=9']),
]:
    file = gdal.GetDriverByName('GTiff').Create(f'{sys.argv[1]}/{name}.tif', width, height, bands, kind, options)
    for band in range(bands):
        pixels = random.randint(8, most, (height, width)).astype('uint16')
        pixels[10 * band:10 * band + 9, 20:55] = 7
        file.GetRasterBand(band + 1).SetNoDataValue(7)
        file.GetRasterBand(band + 1).WriteArray(pixels)
`;

/** SwiftShader compiles four programs for each type of pixels: it reads only the first, unless more is asked for. */
const files = ['tiles', 'four', 'planes', 'strips'];

const size = { width: 90, height: 70 };
const cpu = new CpuDevice({ threads: 2, stagingBytes: 2 ** 20 });
after(() => cpu.close());
const never = new AbortController().signal;

const chains: Record<string, AskedOperation[]> = {
  lbp: [{ kernel: 'lbp', parameters: {}, border: '' }],
  ldp: [{ kernel: 'ldp', parameters: { order: '3' }, border: '' }],
  conv: [{ kernel: 'conv', parameters: { kernel: 'sobel' }, border: '' }],
  glcm: [{ kernel: 'glcm', parameters: { levels: '8', offsets: '1@0+1@45', symmetric: 'true' }, border: '' }],
};
const named = Object.entries(chains).map(([name, operations]) => ({ name, pipeline: { operations }, op: [] }));
const channelsOf = (name: string): number => createPipeline(chains[name]!).output.channels.length;

/** The results of each pipeline, and the chunks of its map, for these bands of a file; tiles of `side`, or a frame. */
async function computed(
  folder: TestFolder,
  execute: ReturnType<typeof createTestExecutor>,
  file: string,
  numbers: number[],
  side: number | undefined,
  grid: { rows: number; columns: number },
) {
  const scratch = await mkdtemp(join(folder.path, 'scratch-'));
  for (const name of Object.keys(chains)) await mkdir(join(scratch, 'pipelines', name), { recursive: true });
  const lease = {
    pipeline: undefined,
    pipelines: { named },
    wantsMap: true,
    grid,
    band: { numbers },
    scratch: pathToFileURL(scratch).href,
  } as Partial<Lease>;
  const uri = pathToFileURL(join(folder.path, `${file}.tif`)).href;
  const rects = side ? tilesOf(size, side) : [{ x: 0, y: 0, ...size }];
  const results: FoundResult[] = [];
  for (const rect of rects) {
    const answer = await execute(
      side ? tileLease(folder, uri, size, rect, lease) : frameLease(folder, [uri], lease),
      never,
    );
    assert.deepEqual(answer.errors, []);
    results.push(...answer.results);
  }
  const chunk = async (name: string, rect: Rect): Promise<Buffer> => {
    const { sample } = createPipeline(chains[name]!).output;
    const at = `${rect.x}-${rect.y}-${rect.width}-${rect.height}.${sample}`;
    return await readFile(join(scratch, 'pipelines', name, 'map', '0', at));
  };
  const maps = Object.keys(chains).map((name) => Promise.all(rects.map((rect) => chunk(name, rect))));
  return { results, maps: await Promise.all(maps) };
}

for (const kind of ['cpu', 'software'] as const) {
  test(`several bands have the results and maps of each band alone on ${kind}`, { skip: lacksGdal }, async () => {
    const device = kind === 'cpu' ? cpu : await sharedDevice();
    await withFolder(async (folder) => {
      askPython(script, [folder.path]);
      const given = fc.record({
        file: fc.constantFrom(...(kind === 'cpu' || isThorough ? files : files.slice(0, 1))),
        numbers: fc.uniqueArray(fc.integer({ min: 1, max: 4 }), { minLength: 2, maxLength: 4 }),
        side: fc.constantFrom(undefined, 33, 64),
        grid: fc.constantFrom({ rows: 1, columns: 1 }, { rows: 2, columns: 3 }),
      });
      const execute = createTestExecutor(device);
      const copying = createTestExecutor(device, {
        openImage: (uri, read) => openImage(uri, { ...read, maxWholePixels: 1000 }),
      });
      const property = fc.asyncProperty(given, async ({ file, numbers, side, grid }) => {
        const of = (bands: number[], by = execute) => computed(folder, by, file, bands, side, grid);
        // Nodes copy strips that are too large to be decoded whole.
        const all = await of(numbers, side && file === 'strips' ? copying : execute);
        const each: Awaited<ReturnType<typeof of>>[] = [];
        for (const number of numbers) each.push(await of([number]));
        for (const [i, { bins, counted, ...result }] of all.results.entries()) {
          const alone = each.map(({ results }) => results[i]!);
          const { bins: _, counted: ofFirst, ...same } = alone[0]!;
          assert.deepEqual(result, same);
          assert.equal(counted, ofFirst);
          const ofBand =
            createPipeline(chains[named[result.pipeline ?? 0]!.name]!).bins *
            channelsOf(named[result.pipeline ?? 0]!.name);
          const expected: number[] = [];
          for (let cell = 0; cell * ofBand < alone[0]!.bins.length; cell++)
            for (const { bins: own } of alone) expected.push(...own.slice(cell * ofBand, (cell + 1) * ofBand));
          assert.deepEqual([...bins], expected);
        }
        for (const [pipeline, chunks] of all.maps.entries()) {
          for (const [i, bytes] of chunks.entries())
            assert.ok(bytes.equals(Buffer.concat(each.map(({ maps }) => maps[pipeline]![i]!))), `${pipeline} ${i}`);
        }
      });
      await fc.assert(property, { numRuns: kind === 'cpu' ? repeated(6, 60) : repeated(1, 2) });
    });
  });
}
