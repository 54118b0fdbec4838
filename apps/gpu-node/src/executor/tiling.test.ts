import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { PixelType, Rect, Size } from '@halogrid/geometry';
import { openImage } from '@halogrid/imaging';
import { type AskedOperation, borderModes, cellsOf, createPipeline, type Grid } from '@halogrid/kernels';
import { isThorough } from '@halogrid/testing';
import fc from 'fast-check';
import sharp from 'sharp';
import { CpuDevice } from '../devices/cpu-device.ts';
import type { Executor } from './executor.ts';
import {
  createTestExecutor,
  lbp,
  openedWhole,
  patternImage,
  referenceOf,
  type TestFolder,
  tileLease,
  tilesOf,
  withFolder,
  withSource,
} from './testing/shard-fixture.ts';

const device = new CpuDevice({ threads: 2 });
after(() => device.close());
const conv = (parameters: Record<string, string>, border = '') => ({ kernel: 'conv', parameters, border });
const never = new AbortController().signal;
const execute = createTestExecutor(device);
const oneCell: Grid = { rows: 1, columns: 1 };

/** Runs every tile and adds up the answers, cell by cell. */
async function runTiles(
  folder: TestFolder,
  uri: string,
  size: Size,
  rects: readonly Rect[],
  run: Executor,
  operations: Required<AskedOperation>[],
  grid = oneCell,
): Promise<{ counted: number; bins: Uint32Array; map: Uint8Array }> {
  const lease = { pipeline: { operations }, grid, wantsMap: true };
  const { bins, output } = createPipeline(operations);
  const binsACell = bins * output.channels.length;
  const cells = new Map(
    cellsOf(grid, size, { x: 0, y: 0, ...size }).map(({ row, column }) => [
      `${row} ${column}`,
      new Array<number>(binsACell).fill(0),
    ]),
  );
  let counted = 0;
  const addTile = async (rect: Rect) => {
    const { results, errors } = await run(tileLease(folder, uri, size, rect, lease), never);
    assert.deepEqual(errors, []);
    const touched = cellsOf(grid, size, rect);
    assert.equal(results[0]!.bins.length, touched.length * binsACell);
    for (const [i, count] of results[0]!.bins.entries()) {
      const { row, column } = touched[Math.floor(i / binsACell)]!;
      cells.get(`${row} ${column}`)![i % binsACell]! += count;
    }
    counted += results[0]!.counted;
  };
  await Promise.all(rects.map(addTile));
  return {
    counted,
    bins: Uint32Array.from([...cells.values()].flat()),
    map: await folder.map(operations, size, rects),
  };
}

test('tiles of an image that is decoded whole share one decode, also if they run at the same time', async () => {
  await withFolder(async (folder) => {
    const size = { width: 90, height: 70 };
    const uri = await folder.put('a.pgm', patternImage(size, 1).file);
    const whole = openedWhole();
    const run = createTestExecutor(device, { openImage: whole.openImage });
    const answers = await Promise.all(tilesOf(size, 20).map((rect) => run(tileLease(folder, uri, size, rect), never)));
    assert.equal(whole.decodes(), 1);
    assert.equal(answers.filter(({ inputBytes }) => inputBytes > 0).length, 1);
  });
});

test('tiles of a striped image too large to hold equal the whole image, also on nodes that share a folder', async () => {
  await withFolder(async (folder) => {
    const size = { width: 90, height: 70 };
    const { image } = patternImage(size, 1, 3, 'u16');
    const pixels = Uint16Array.from(image.pixels, (_, i) => image.pixels[(i % 3) * 6300 + Math.floor(i / 3)]!);
    const opens: string[] = [];
    const nodes = Array.from({ length: 3 }, () =>
      createTestExecutor(device, {
        openImage: (uri) => {
          opens.push(uri);
          return openImage(uri, { maxWholePixels: 1000 });
        },
      }),
    );
    let next = 0;
    const run: Executor = (lease, signal) => nodes[next++ % nodes.length]!(lease, signal);
    const inColour = [conv({ kernel: 'sharpen-3', channels: 'rgb' })];
    const raw = sharp(pixels, { raw: { ...size, channels: 3 } }).toColourspace('rgb16');
    const expected = referenceOf(inColour, image);
    const rects = tilesOf(size, 20);
    for (const encoded of [raw.clone().png(), raw.clone().tiff({ compression: 'lzw' })]) {
      const uri = await folder.put('image', await encoded.toBuffer());
      const { map } = await runTiles(folder, uri, size, rects, run, inColour);
      assert.ok(Buffer.from(expected.map).equals(map));
    }
    assert.equal(opens.filter((opened) => opened.includes('/scratch/copy/0-')).length, 2 * rects.length);
    const copies = await readdir(join(folder.path, 'scratch', 'copy'));
    assert.equal(copies.length, 2);
    assert.ok(copies.every((name) => /^0-[0-9a-f]{16}\.tif$/.test(name)));
  });
});

const single = fc
  .record({ border: fc.constantFrom(...borderModes), convention: fc.constantFrom('nw-cw-msb', 'nw-cw-lsb') })
  .map(({ border, convention }) => [lbp({ convention }, border)]);
const ldp = (order: string) => ({ kernel: 'ldp', parameters: { order }, border: '' });
// Sums of integers, exact on every path.
const others = fc.constantFrom<Required<AskedOperation>[][]>(
  [lbp({}, 'mirror'), lbp({}, 'interior')],
  [lbp({}, 'interior'), lbp({}, 'reflect'), lbp({ convention: 'nw-cw-lsb' }, 'zero')],
  [lbp({}, 'wrap'), lbp({}, 'wrap')],
  [ldp('2')],
  [conv({ kernel: 'gaussian-5', as: 'u8' }, 'reflect'), ldp('4')],
  [conv({ kernel: 'sharpen-3', as: 'u8', channels: 'rgb' }, 'mirror')],
  [conv({ kernel: 'box-3', as: 'u8', channels: 'rgb' }), conv({ kernel: 'sobel-x', as: 'i16', channels: 'rgb' })],
  [lbp(), conv({ kernel: 'log-5' }, 'replicate')],
);

test('the planes of an image in colour are not taken for its luma', async () => {
  await withFolder(async (folder) => {
    const size = { width: 30, height: 20 };
    const { file, image } = patternImage(size, 1, 3);
    const uri = await folder.put('a.ppm', file);
    const whole = openedWhole();
    const run = createTestExecutor(device, { openImage: whole.openImage });
    const inColour = [conv({ kernel: 'sharpen-3', as: 'u8', channels: 'rgb' })];
    for (let i = 0; i < 2; i++) {
      const gray = await runTiles(folder, uri, size, tilesOf(size, 16), run, [lbp()]);
      assert.equal(gray.bins.length, 256);
      const tiled = await runTiles(folder, uri, size, tilesOf(size, 16), run, inColour);
      assert.deepEqual(tiled, referenceOf(inColour, image));
    }
    assert.equal(whole.decodes(), 2);
  });
});

test('property: any tiling gives the histograms and the map of the whole image', async () => {
  const cases = fc.record({
    width: fc.integer({ min: 1, max: 70 }),
    height: fc.integer({ min: 1, max: 70 }),
    tilesAcross: fc.integer({ min: 1, max: 10 }),
    operations: fc.oneof(single, others),
    grid: fc.oneof(
      fc.constant(oneCell),
      fc.record({ rows: fc.integer({ min: 1, max: 9 }), columns: fc.integer({ min: 1, max: 9 }) }),
    ),
    seed: fc.nat(1000),
    readsRegions: fc.boolean(),
    pixel: fc.constantFrom<PixelType[]>('u8', 'u16'),
  });
  await fc.assert(
    fc.asyncProperty(cases, async ({ width, height, tilesAcross, operations, seed, readsRegions, pixel, ...asked }) => {
      await withFolder(async (folder) => {
        const { input, minSide, bins } = createPipeline(operations);
        const grid = bins > 0 ? asked.grid : oneCell;
        const size = { width: Math.max(width, minSide), height: Math.max(height, minSide) };
        const { file, image } = patternImage(size, seed, input.length === 1 ? 1 : 3, pixel);
        const uri = await folder.put('a.pnm', file);
        const run = readsRegions ? execute : createTestExecutor(device, { openImage: openedWhole().openImage });
        const tilePx = Math.ceil(Math.max(size.width, size.height) / tilesAcross);
        const tiled = await runTiles(folder, uri, size, tilesOf(size, tilePx), run, operations, grid);
        assert.deepEqual(tiled, referenceOf(operations, image, grid));
      });
    }),
    { numRuns: isThorough ? 100 : 40 },
  );
});

const oracle = new URL('../../../../libs/kernels/oracle/', import.meta.url);
interface OracleCase {
  bit_order: string;
  border: string;
  histogram: number[];
  map_sha256: string;
}

test('every case of the oracle, in tiles of several sizes', async () => {
  const { width, height, square_lbp } = JSON.parse(readFileSync(new URL('expected/coins.json', oracle), 'utf8'));
  const size: Size = { width, height };
  const uri = new URL('images/coins.png', oracle).href;
  assert.ok(square_lbp.length >= 12);
  for (const { bit_order: convention, border, histogram, map_sha256 } of square_lbp as OracleCase[]) {
    for (const tilePx of [100, 512]) {
      await withFolder(async (folder) => {
        const operations = [lbp({ convention }, border)];
        const { bins, map } = await runTiles(folder, uri, size, tilesOf(size, tilePx), execute, operations);
        assert.deepEqual([...bins], histogram, `${convention} ${border} ${tilePx}`);
        assert.equal(createHash('sha256').update(map).digest('hex'), map_sha256, `${convention} ${border} ${tilePx}`);
      });
    }
  }
});

test("the source's own pixels are kept for a preview as decoded, for every halo and border", async () => {
  const smoothed = conv({ kernel: 'gaussian-5', as: 'u8' }, 'mirror');
  const table: [operations: Required<AskedOperation>[], planes: 1 | 3, pixel: PixelType][] = [
    [[smoothed, lbp()], 1, 'u8'],
    [[conv({ kernel: 'box-7', as: 'u8' }, 'wrap'), lbp({}, 'wrap')], 1, 'u16'],
    [[conv({ kernel: 'sobel', channels: 'rgb' })], 3, 'u8'],
  ];
  for (const [operations, planes, pixel] of table) {
    await withFolder(async (folder) => {
      const size = { width: 50, height: 30 };
      const { file, image } = patternImage(size, 1, planes, pixel);
      const uri = await folder.put(planes === 1 ? 'a.pgm' : 'a.ppm', file);
      for (const rect of tilesOf(size, 20)) {
        const lease = tileLease(folder, uri, size, rect, { pipeline: { operations } });
        await execute(withSource(lease, 0, { preview: true }), never);
        const name = `${rect.x}-${rect.y}-${rect.width}-${rect.height}.${pixel}`;
        const left = await readFile(join(folder.path, 'scratch', 'sums', '0', name));
        const expected = Array.from({ length: planes * rect.height }, (_, row) => {
          const plane = Math.floor(row / rect.height) * size.height;
          const at = (plane + rect.y + (row % rect.height)) * size.width + rect.x;
          return [...image.pixels.subarray(at, at + rect.width)];
        });
        const samples = pixel === 'u8' ? [...left] : [...new Uint16Array(new Uint8Array(left).buffer)];
        assert.deepEqual(samples, expected.flat());
      }
    });
  }
});
