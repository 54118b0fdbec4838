import assert from 'node:assert/strict';
import { statSync, truncateSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { JpegFrameReader } from '@halogrid/jpeg';
import { type MadeUpJpeg, writeJpeg } from '@halogrid/jpeg/testing';
import { localVersion, restrictSources, unrestricted } from '@halogrid/sources';
import { rowUri } from '@halogrid/sources/row-uri';
import { parquetOf } from '@halogrid/sources/testing-parquet-files';
import type { BegunFile } from './begun-file.ts';
import { type JpegLimits, takenWords } from './jpeg-orders.ts';
import { readJpegs } from './read-jpegs.ts';

const made: MadeUpJpeg = {
  width: 40,
  height: 24,
  restartMcus: 0,
  density: 5,
  bits: 3,
  quantiser: 4,
  sharesTables: false,
  seed: 1,
  samplings: [[1, 1]],
};
const jpegs = Array.from({ length: 12 }, (_, i) => writeJpeg({ ...made, seed: i + 1 }));
const limits: JpegLimits = {
  bytes: 2 ** 20,
  planesBytes: 2 ** 20,
  minSide: 3,
  channels: 'gray',
  results: { most: 2 ** 20, ofImage: 1024, ofRow: 0, ofPixel: 0 },
};

async function inFolder(use: (put: (name: string, bytes: Uint8Array | string) => Promise<string>) => Promise<void>) {
  const folder = await mkdtemp(join(tmpdir(), 'halogrid-test-'));
  try {
    await use(async (name, bytes) => {
      await writeFile(join(folder, name), bytes);
      return pathToFileURL(join(folder, name)).href;
    });
  } finally {
    await rm(folder, { recursive: true });
  }
}

const read = (files: { uri: string; version?: string }[], its = limits, to = new Uint8Array(its.bytes)) =>
  readJpegs(files, to, its, new JpegFrameReader());
/** The indexes of the files that were taken. */
const positionsOf = ({ taken }: Awaited<ReturnType<typeof read>>) =>
  Array.from({ length: taken.length / takenWords }, (_, i) => taken[i * takenWords]!);

test('files lie one after another unchanged, and files that are not for devices are left out', async () => {
  await inFolder(async (put) => {
    const uris = [
      await put('a.jpg', jpegs[0]!),
      await put('text.jpg', 'no picture'),
      await put('empty.jpg', ''),
      await put('b.jpg', jpegs[1]!),
      await put('small.jpg', writeJpeg({ ...made, width: 2 })),
    ];
    const files = [...uris, `${uris[0]}.missing`, 'file://%', uris[0]!].map((uri) => ({ uri }));
    const to = new Uint8Array(limits.bytes);
    const batch = await read(files, limits, to);
    assert.equal(batch.done, files.length);
    assert.deepEqual(positionsOf(batch), [0, 3, 7]);
    assert.equal(batch.layout.fileCount, 3);
    let at = 0;
    for (const [i, jpeg] of [jpegs[0]!, jpegs[1]!, jpegs[0]!].entries()) {
      assert.deepEqual([...batch.taken.subarray(i * takenWords + 1, (i + 1) * takenWords)], [jpeg.length, 40, 24]);
      assert.deepEqual(to.subarray(at, at + jpeg.length), new Uint8Array(jpeg));
      at += 4 * Math.ceil(jpeg.length / 4);
    }
    assert.equal(batch.filesBytes, at);
  });
});

test('rows of a Parquet file lie there as files do, and rows of another version are left out', async () => {
  await inFolder(async (put) => {
    const bytes = parquetOf([{ bytes: jpegs[0]! }, { bytes: null }, { bytes: jpegs[1]! }]);
    const uri = await put('a.parquet', bytes);
    const version = localVersion(statSync(new URL(uri)));
    const rows = [0, 1, 2, 3].map((row) => ({ uri: rowUri(uri, { column: 'image.bytes', row }), version }));
    const to = new Uint8Array(limits.bytes);
    const batch = await read([...rows, { ...rows[0]!, version: '1 2' }], limits, to);
    assert.deepEqual([batch.done, positionsOf(batch)], [5, [0, 2]]);
    assert.deepEqual(to.subarray(0, jpegs[0]!.length), new Uint8Array(jpegs[0]!));
  });
});

test('a batch ends if the next file has no room; a file too large for an empty batch is left out', async () => {
  await inFolder(async (put) => {
    const files = await Promise.all(jpegs.map(async (jpeg, i) => ({ uri: await put(`${i}.jpg`, jpeg) })));
    const planeBytes = 48 * 24;
    const spaceOfPlane = 256 * Math.ceil(planeBytes / 256);
    const byPlanes = await read(files, { ...limits, planesBytes: 5 * spaceOfPlane });
    assert.deepEqual([byPlanes.done, byPlanes.layout.fileCount], [5, 5]);
    const bytes = jpegs.slice(0, 10).reduce((sum, { length }) => sum + 4 * Math.ceil(length / 4), 0);
    const byBytes = await read(files, { ...limits, bytes });
    assert.deepEqual([byBytes.done, byBytes.layout.fileCount], [10, 10]);
    const none = await read(files, { ...limits, planesBytes: spaceOfPlane - 1 });
    assert.deepEqual([none.done, none.layout.fileCount], [12, 0]);
  });
});

test('a file that is not the planned version, or is shorter than its size says, is left to cores', async () => {
  await inFolder(async (put) => {
    const uri = await put('a.jpg', jpegs[0]!);
    const path = new URL(uri).pathname;
    const version = localVersion(statSync(path));
    assert.deepEqual(positionsOf(await read([{ uri, version }])), [0]);
    truncateSync(path, 100);
    assert.deepEqual(positionsOf(await read([{ uri, version }])), []);
    // The file claims a size of 4096, but that many bytes cannot be read.
    assert.deepEqual(positionsOf(await read([{ uri: 'file:///sys/kernel/mm/transparent_hugepage/enabled' }])), []);
  });
});

/** The JPEG with a comment of `bytes` bytes right after its start. */
const withComment = (jpeg: Uint8Array, bytes: number): Buffer =>
  Buffer.concat([
    jpeg.subarray(0, 2),
    Buffer.from([0xff, 0xfe, bytes >> 8, bytes & 255]),
    Buffer.alloc(bytes - 2),
    jpeg.subarray(2),
  ]);

test('files longer than the first read, and files with a longer header, are read unchanged', async () => {
  await inFolder(async (put) => {
    const wide = { ...made, width: 400, height: 300, density: 40 };
    const files = [writeJpeg(wide), withComment(jpegs[0]!, 30_000), withComment(writeJpeg(wide), 60_000)];
    assert.ok(files.every(({ length }) => length > 2 ** 13));
    const uris = await Promise.all(files.map((jpeg, i) => put(`${i}.jpg`, jpeg)));
    const to = new Uint8Array(limits.bytes);
    const batch = await read(
      uris.map((uri) => ({ uri })),
      limits,
      to,
    );
    assert.deepEqual(positionsOf(batch), [0, 1, 2]);
    let at = 0;
    for (const jpeg of files) {
      assert.equal(Buffer.compare(to.subarray(at, at + jpeg.length), jpeg), 0);
      at += 4 * Math.ceil(jpeg.length / 4);
    }
  });
});

test('a file that becomes shorter while it is read is left out, and its neighbours are not', async () => {
  const large = jpegs.slice(0, 4).map((jpeg) => Buffer.concat([jpeg, Buffer.alloc(100)]));
  const begin = async ({ uri }: { uri: string }): Promise<BegunFile> => {
    const bytes = large[Number(uri)]!;
    const head = bytes.subarray(0, bytes.length - 50);
    const readRest = async (into: Uint8Array) => {
      into.set(bytes.subarray(head.length));
      return uri !== '1';
    };
    return { sizeBytes: bytes.length, head, readRest, close: async () => {} };
  };
  const files = large.map((_, i) => ({ uri: `${i}` }));
  const to = new Uint8Array(limits.bytes);
  const batch = await readJpegs(files, to, limits, new JpegFrameReader(), { atOnce: 3, begin });
  assert.deepEqual([batch.done, positionsOf(batch), batch.layout.fileCount], [4, [0, 2, 3], 3]);
});

test('a file outside of the data roots is not read', async () => {
  await inFolder(async (put) => {
    const uri = await put('a.jpg', jpegs[0]!);
    restrictSources({ roots: ['/nowhere'], hosts: undefined });
    try {
      assert.deepEqual(positionsOf(await read([{ uri }])), []);
    } finally {
      restrictSources(unrestricted);
    }
    assert.deepEqual(positionsOf(await read([{ uri }])), [0]);
  });
});
