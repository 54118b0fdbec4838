import assert from 'node:assert/strict';
import { appendFile, readdir, readFile, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Size } from '@halogrid/geometry';
import { openImage } from '@halogrid/imaging';
import { writeJpeg } from '@halogrid/jpeg/testing';
import { Cause, type Lease } from '@halogrid/proto';
import { CpuDevice } from '../devices/cpu-device.ts';
import { IndexThread } from '../feed/index-thread.ts';
import { BandedJpegs } from './jpeg-bands.ts';
import {
  createTestExecutor,
  lbp,
  type TestFolder,
  tileLease,
  tilesOf,
  withFolder,
  withSource,
} from './testing/shard-fixture.ts';
import { bandPartsOf } from './tile-of-bands.ts';

const device = new CpuDevice({ threads: 2 });
const indexer = new IndexThread();
after(async () => {
  await device.close();
  await indexer.close();
});
const never = new AbortController().signal;
const conv = { kernel: 'conv', parameters: { kernel: 'sharpen-3', channels: 'rgb', as: 'u8' }, border: '' };

const size: Size = { width: 200, height: 3000 };
/** MCUs of 16 x 16 pixels, 13 in a row. A restart interval begins with every fifth row. */
const made = {
  ...size,
  samplings: [
    [2, 2],
    [1, 1],
    [1, 1],
  ],
  restartMcus: 5,
  density: 5,
  bits: 3,
  quantiser: 4,
  sharesTables: false,
  seed: 7,
} as const;

/** A node that decodes images of any size in small bands, and one that copies every image of more than a few pixels. */
function nodes() {
  const opened: string[] = [];
  const open = (uri: string) => {
    opened.push(uri);
    return openImage(uri, { maxWholePixels: 1000 });
  };
  // Bands of 480 rows, seven in all.
  const banded = new BandedJpegs(indexer.index, 1, 100_000);
  return {
    opened,
    inBands: createTestExecutor(device, { openImage: open, banded }),
    byCopy: createTestExecutor(device, { openImage: open }),
  };
}

const copiesIn = (folder: TestFolder) => readdir(join(folder.path, 'scratch', 'copy')).catch(() => []);

for (const [name, operations] of [
  ['gray', [lbp({}, 'mirror')]],
  ['colours', [conv]],
] as const) {
  test(`tiles of a large JPEG with restart markers need no copy, and equal tiles of the copy: ${name}`, async () => {
    await withFolder(async (folder) => {
      const uri = await folder.put('a.jpg', writeJpeg(made));
      const { inBands, byCopy, opened } = nodes();
      const rects = tilesOf(size, 170);
      const lease: Partial<Lease> = { pipeline: { operations: [...operations] }, wantsMap: true };
      const compute = (run: typeof inBands) =>
        Promise.all(rects.map((rect) => run(tileLease(folder, uri, size, rect, lease), never)));
      const answers = await compute(inBands);
      assert.deepEqual(opened, []);
      assert.deepEqual(await copiesIn(folder), []);
      const map = await folder.map(operations, size, rects);
      // A band is read once, with the 80 rows below it. For colours, the 80 rows above are decoded too.
      const fileBytes = (await readFile(fileURLToPath(uri))).length;
      const readBytes = answers.reduce((sum, { inputBytes }) => sum + inputBytes, 0);
      const most = name === 'gray' ? 1.4 : 2.4;
      assert.ok(readBytes < most * fileBytes, `${readBytes} of ${fileBytes}`);

      const expected = await compute(byCopy);
      assert.equal((await copiesIn(folder)).length, 1);
      assert.deepEqual(
        answers.map(({ results, errors }) => [results, errors]),
        expected.map(({ results, errors }) => [results, errors]),
      );
      assert.ok(Buffer.from(map).equals(await folder.map(operations, size, rects)));
    });
  });
}

test('a damaged or changing JPEG has the same sentences as without bands', async () => {
  const jpeg = writeJpeg(made);
  const damaged = Buffer.from(jpeg);
  // No code consists of ones alone, and FF is followed by its stuffed zero.
  for (let at = damaged.length >> 1; at < (damaged.length >> 1) + 40; at += 2) damaged.set([0xff, 0], at);
  const cut = jpeg.subarray(0, jpeg.length - 300);
  const padded = Buffer.concat([jpeg.subarray(0, -2), Buffer.alloc(20, 0x55), jpeg.subarray(-2)]);
  // One extra byte before a restart marker in the middle.
  const restart = jpeg.indexOf(Buffer.from([0xff, 0xd3]), jpeg.length >> 1);
  const leftOver = Buffer.concat([jpeg.subarray(0, restart), Buffer.from([0x5a]), jpeg.subarray(restart)]);
  const table: [what: string, file: Uint8Array, said: string[]][] = [
    ['whole', jpeg, []],
    ['damaged', damaged, ['The JPEG data is damaged or cut off']],
    ['cut', cut, ['The JPEG is cut off: its end marker is missing']],
    ['padded', padded, []],
    ['left over', leftOver, []],
  ];
  for (const [what, file, said] of table) {
    await withFolder(async (folder) => {
      const uri = await folder.put('a.jpg', file);
      const rects = tilesOf(size, 1000);
      const { inBands, byCopy } = nodes();
      const compute = (run: typeof inBands) =>
        Promise.all(rects.map((rect) => run(tileLease(folder, uri, size, rect), never)));
      for (const answers of [await compute(inBands), await compute(byCopy)]) {
        const errors = answers.flatMap((answer) => answer.errors);
        // One bad tile sets an image aside.
        assert.deepEqual([...new Set(errors.map(({ error }) => error))], said, what);
        assert.ok(errors.every(({ cause, stage }) => cause === Cause.CONTENT && stage === 'decode'));
        const mended = answers.flatMap((answer) => answer.mended?.kinds ?? []);
        assert.equal(mended.length > 0, what === 'left over' || what === 'padded', what);
      }
    });
  }
});

test('a file that shrinks or grows between two tiles has changed', async () => {
  for (const change of [(path: string) => truncate(path, 2000), (path: string) => appendFile(path, 'x')]) {
    await withFolder(async (folder) => {
      const uri = await folder.put('a.jpg', writeJpeg(made));
      const image = await openImage(uri);
      await image.close();
      const { inBands } = nodes();
      const [first, , third] = tilesOf(size, 1000);
      const lease = (rect: typeof first) => withSource(tileLease(folder, uri, size, rect!), 0, { pin: image.version! });
      assert.deepEqual((await inBands(lease(first), never)).errors, []);
      await change(fileURLToPath(uri));
      const [error] = (await inBands(lease(third), never)).errors;
      assert.match(error!.error, /is not what it was when the job was planned/);
    });
  }
});

test('no index is read, and no thread starts, for images that are small, of another format or on a server', async () => {
  const asked: string[] = [];
  const banded = new BandedJpegs(async ({ uri }) => void asked.push(uri), 100);
  const open = (uri: string, width: number) => banded.open({ uri }, { width, height: 10 }, 'v', 'gray');
  for (const [uri, width] of [
    ['file:///a.jpg', 9],
    ['file:///a.tif', 10],
    ['https://host/a.jpg', 10],
  ] as const)
    assert.equal(await open(uri, width), undefined);
  assert.deepEqual(asked, []);
  await Promise.all([open('file:///a.jpg', 10), open('file:///a.jpg', 10)]);
  assert.deepEqual(asked, ['file:///a.jpg']);
});

test('a tile is put together from the rows of each band that it touches', () => {
  const copy = { from: { x: 3, y: 95, width: 20, height: 110 }, to: { x: 1, y: 2 } };
  assert.deepEqual(bandPartsOf([copy], { rows: 100 }), [
    { y: 0, copies: [{ from: { x: 3, y: 95, width: 20, height: 5 }, to: { x: 1, y: 2 } }] },
    { y: 100, copies: [{ from: { x: 3, y: 0, width: 20, height: 100 }, to: { x: 1, y: 7 } }] },
    { y: 200, copies: [{ from: { x: 3, y: 0, width: 20, height: 5 }, to: { x: 1, y: 107 } }] },
  ]);
});
