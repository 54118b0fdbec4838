import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { crc32c, InputError, planeUri } from '@halogrid/sources';
import { temporaryFolder } from '@halogrid/sources/testing-files';
import { askPython, pythonFails, repeated } from '@halogrid/testing';
import fc from 'fast-check';
import { openImage } from '../../open-image.ts';
import { assertPlanes, decodeOpen, decodeWhole, planes } from '../../testing/images.ts';
import { planeBytes, planeOf, writeZarr, type ZarrOfTests } from './testing/write-zarr.ts';

// Worth its seconds: each codec, byte order and order of axes is compared with zarr-python in one call of Python, and
// everything else is written by the specification, without a process.

const skip = pythonFails('import zarr');

test('planes of arrays that zarr-python made are what it reads, whatever their codec and order', {
  skip,
}, async (t) => {
  const folder = await temporaryFolder(t);
  const program = fileURLToPath(new URL('testing/make-zarrs.py', import.meta.url));
  const lines = askPython(program, [folder]).trim().split('\n');
  assert.equal(lines.length, 44 + 24 + 12);
  for (const line of lines) {
    const { file, indices, expected } = JSON.parse(line) as { file: string; indices: number[]; expected: string };
    const decoded = await decodeWhole(planeOf(pathToFileURL(file).href, indices));
    assert.ok(Buffer.from(decoded).equals(readFileSync(expected)), line);
  }
});

const checksum = (bytes: Buffer): Buffer => {
  const sum = Buffer.alloc(4);
  sum.writeUInt32LE(crc32c(bytes));
  return Buffer.concat([bytes, sum]);
};
const arrays: Record<string, ZarrOfTests> = {
  plain: { shape: [70, 50], chunk: [32, 16] },
  'of 16 bits, big-endian': { shape: [40, 50], chunk: [32, 16], pixel: 'u16', isBigEndian: true },
  transposed: { shape: [3, 20, 17], chunk: [2, 8, 16], order: [2, 0, 1], pixel: 'u16' },
  'of gzip and a checksum': {
    shape: [30, 31],
    chunk: [16, 16],
    codecs: [{ name: 'gzip', configuration: { level: 5 } }, { name: 'crc32c' }],
    encode: (bytes) => checksum(gzipSync(bytes)),
  },
  'of a checksum inside zstd': {
    shape: [30, 31],
    chunk: [16, 16],
    codecs: [{ name: 'crc32c' }, { name: 'zstd', configuration: { level: 1, checksum: false } }],
    encode: (bytes) => zstdCompressSync(checksum(bytes)),
  },
  'in shards': { shape: [2, 70, 50], chunk: [1, 16, 8], perShard: [1, 2, 3], pixel: 'u16' },
  'in shards with the index first': { shape: [70, 50], chunk: [16, 8], perShard: [2, 3], isIndexFirst: true },
  'in shards of zlib without some chunks': {
    shape: [70, 50],
    chunk: [16, 8],
    perShard: [2, 3],
    codecs: [{ name: 'numcodecs.zlib', configuration: { level: 1 } }],
    encode: (bytes) => deflateSync(bytes),
    lacks: ([row, column]) => row === 1 || column! > 3,
    fill: 200,
  },
};

test('planes of arrays that were written by the specification of format 3 have the samples that were written', async (t) => {
  const folder = await temporaryFolder(t);
  for (const [name, array] of Object.entries(arrays)) {
    const file = await writeZarr(join(folder, name), array);
    for (let i = 0; i < (array.shape.length > 2 ? array.shape[0]! : 1); i++) {
      const outer = array.shape.length > 2 ? [i] : [];
      assert.ok(Buffer.from(await decodeWhole(planeOf(file, outer))).equals(planeBytes(array, outer)), name);
    }
  }
});

test('any region of a plane has its samples, whatever the shape of chunks and shards', async (t) => {
  const folder = await temporaryFolder(t);
  const size = fc.integer({ min: 1, max: 15 });
  const array = fc
    .record({ planes: fc.integer({ min: 1, max: 3 }), height: size, width: size })
    .chain(({ planes, height, width }) =>
      fc.record({
        shape: fc.constant([planes, height, width]),
        chunk: fc.tuple(fc.integer({ min: 1, max: 3 }), size, size),
        perShard: fc.option(fc.tuple(fc.constantFrom(1, 2), fc.constantFrom(1, 3), fc.constantFrom(1, 2)), {
          nil: undefined,
        }),
        pixel: fc.constantFrom('u8' as const, 'u16' as const),
        lacks: fc.constantFrom(undefined, ([, row, column]: readonly number[]) => (row! + column!) % 2 === 0),
        fill: fc.nat(255),
      }),
    );
  const between = fc.record({
    from: fc.double({ min: 0, max: 0.999, noNaN: true }),
    part: fc.double({ min: 0, max: 1, noNaN: true }),
  });
  const cut = ({ from, part }: { from: number; part: number }, length: number): [at: number, length: number] => {
    const at = Math.floor(from * length);
    return [at, Math.max(1, Math.floor(part * (length - at)))];
  };
  let runs = 0;
  const property = fc.asyncProperty(
    array,
    between,
    between,
    fc.constantFrom('gray' as const, 'rgb' as const),
    async (array, across, down, channels) => {
      const file = await writeZarr(join(folder, String(runs++)), array);
      const [count, rows, columns] = array.shape as [number, number, number];
      const [x, width] = cut(across, columns);
      const [y, height] = cut(down, rows);
      const image = await openImage(planeOf(file, [count - 1]));
      const target = planes(width, height, channels, { before: 2, padding: 4, between: 6 }, array.pixel);
      await image.decode({ x, y, width, height }, target);
      await image.close();
      const whole = planeBytes(array, [count - 1]);
      const expected =
        array.pixel === 'u16' ? new Uint16Array(whole.buffer, whole.byteOffset, whole.length / 2) : whole;
      const at = (_: number, column: number, row: number): number => expected[(y + row) * columns + x + column]!;
      assertPlanes(target, width, height, at, undefined, array.pixel);
    },
  );
  await fc.assert(property, { numRuns: repeated(40) });
});

test('what is wrong with metadata, a chunk or a plane is said in a sentence', async (t) => {
  const folder = await temporaryFolder(t);
  const good = arrays['in shards with the index first']!;
  let cases = 0;
  const refused = async (
    change: (array: string) => Promise<unknown>,
    sentence: RegExp,
    array = good,
    indices: number[] = [],
  ) => {
    const path = join(folder, String(cases++));
    const file = await writeZarr(path, array);
    await change(path);
    await assert.rejects(decodeWhole(planeOf(file, indices)), (error: unknown) => {
      assert.ok(error instanceof InputError, String(error));
      assert.match(error.message, sentence);
      return true;
    });
  };
  const metadata = (changes: object) => async (path: string) => {
    const known = JSON.parse(await readFile(join(path, 'zarr.json'), 'utf8'));
    await writeFile(join(path, 'zarr.json'), JSON.stringify({ ...known, ...changes }));
  };
  const nothing = async () => {};
  await refused(
    (path) => writeFile(join(path, 'zarr.json'), '{"zarr_format": 3'),
    /^zarr\.json of the Zarr is not JSON: /,
  );
  await refused((path) => writeFile(join(path, 'zarr.json'), '[]'), /^zarr\.json of the Zarr is not a JSON object$/);
  await refused(metadata({ zarr_format: 1 }), /^The Zarr array has the format '1': 2 and 3 are read$/);
  await refused(metadata({ node_type: 'group' }), /^The metadata is that of a Zarr group, not of an array$/);
  await refused(
    metadata({ shape: [70, -1] }),
    /^The Zarr array has '\[70,-1\]' as its shape: expected a positive integer/,
  );
  await refused(metadata({ shape: [70] }), /as its shape: expected a positive integer for each of 2 to 16 axes$/);
  await refused(
    metadata({ shape: [2 ** 22, 2 ** 22] }),
    /^4194304x4194304 is more than the 1099511627776 pixels|must have 256 pixels$/,
  );
  await refused(
    metadata({ data_type: 'float32' }),
    /^The Zarr array has samples of the type 'float32': uint8 and uint16 are read$/,
  );
  await refused(
    metadata({ fill_value: 256 }),
    /^The Zarr array has the fill value '256', which is not a sample from 0 to 255$/,
  );
  await refused(metadata({ fill_value: 'NaN' }), /fill value 'NaN'/);
  await refused(
    metadata({ chunk_grid: { name: 'rectangular' } }),
    /^The Zarr array has the chunk grid 'rectangular': 'regular' is read$/,
  );
  await refused(
    metadata({ codecs: [{ name: 'bytes' }, { name: 'zfpy' }] }),
    /^The Zarr array is compressed by 'zfpy': Blosc, Zstandard, gzip/,
  );
  await refused(metadata({ storage_transformers: [{ name: 'x' }] }), /storage transformers, which are not read$/);
  await refused(
    metadata({ chunk_grid: { name: 'regular', configuration: { chunk_shape: [33, 24] } } }),
    /^Shards of 33x24 cannot be cut into chunks of 16x8$/,
  );
  await refused(
    metadata({ chunk_grid: { name: 'regular', configuration: { chunk_shape: [2 ** 16, 2 ** 16] } } }),
    /^A shard of the Zarr array has 33554432 chunks: at most 262144 are read$/,
  );
  await refused(
    metadata({
      chunk_grid: { name: 'regular', configuration: { chunk_shape: [2 ** 14, 2 ** 14] } },
      codecs: [{ name: 'bytes' }],
    }),
    /^A chunk of 16384x16384 takes 268435456 bytes: at most 134217728 are read$/,
  );
  await refused(
    metadata({
      shape: [4096, 4096],
      chunk_grid: { name: 'regular', configuration: { chunk_shape: [1, 1] } },
      codecs: [{ name: 'bytes' }],
    }),
    /is cut into 16777216 chunks of 1x1: of more than 1048576, each must have 256 pixels$/,
  );
  await refused(nothing, /^The Zarr array has 2 axes: a plane has 0 indices, not 1$/, good, [0]);
  await refused(nothing, /^The Zarr array has a0 from 0 to 1, and no 2$/, arrays['in shards']!, [2]);
  const first = (path: string) => join(path, 'c/0/0');
  await refused(
    async (path) => writeFile(first(path), (await readFile(first(path))).subarray(0, 40)),
    /^The chunk 'c\/0\/0' cannot be read: the shard has 40 bytes, and its index alone 100$/,
  );
  const spoilt = async (path: string, at: number) => {
    const bytes = await readFile(first(path));
    bytes[at < 0 ? bytes.length + at : at]! ^= 1;
    await writeFile(first(path), bytes);
  };
  await refused((path) => spoilt(path, 3), /the index of the shard is damaged: its checksum is another one$/);
  const plain = arrays.plain!;
  await refused(
    (path) => writeFile(first(path), 'short'),
    /^The chunk '0\/0' is damaged: it has 5 samples, not 512$/,
    plain,
  );
  await refused(
    async (path) => {
      await rm(first(path));
      await mkdir(first(path));
    },
    /^The chunk 'c\/0\/0' cannot be read: not a file: a folder$/,
    plain,
  );
  await refused(
    (path) => writeFile(first(path), Buffer.alloc(2 ** 20)),
    /^The chunk 'c\/0\/0' cannot be read: the file has 1048576 bytes, more than the 66112 that it may have$/,
    plain,
  );
  await refused(
    (path) => spoilt(path, -1),
    /^The chunk '0\/0' is damaged: its checksum is another one$/,
    arrays['of gzip and a checksum']!,
  );
  const inflating = { ...plain, codecs: [{ name: 'gzip' }], encode: () => gzipSync(Buffer.alloc(2 ** 24)) };
  await refused(nothing, /^The chunk '\d\/\d' is damaged: Cannot create a Buffer larger than 516 bytes$/, inflating);
  const promising = {
    ...plain,
    codecs: [{ name: 'blosc' }],
    encode: () => Buffer.from('02010101ffffff7f0010000014000000', 'hex'),
  };
  await refused(
    nothing,
    /^The chunk '\d\/\d' is damaged: its header promises 2147483647 bytes, more than the chunk has$/,
    promising,
  );
});

test('a missing chunk is the fill value, which is told; an array that is gone is not', async (t) => {
  const path = join(await temporaryFolder(t), 'a.zarr');
  const file = await writeZarr(path, { ...arrays.plain!, lacks: ([row]) => row === 1, fill: 9 });
  const image = await openImage(planeOf(file, []));
  const rows = planes(50, 32, 'gray');
  await image.decode({ x: 0, y: 0, width: 50, height: 32 }, rows);
  assert.equal(image.mended, undefined);
  const pixels = await decodeOpen(image);
  assert.deepEqual(new Set(pixels.subarray(32 * 50, 64 * 50)), new Set([9]));
  assert.equal(image.mended, 'missing chunks were read as the fill value 9');
  await image.close();
  const gone = await openImage(planeOf(file, []));
  await rename(path, `${path}.away`);
  await assert.rejects(decodeOpen(gone), { message: 'The file does not exist' });
  await gone.close();
});

test('damaged files of a Zarr give pixels or a sentence, and leave nothing open', async (t) => {
  const folder = await temporaryFolder(t);
  const names = Object.keys(arrays);
  const damage = fc.record({
    array: fc.constantFrom(...names),
    file: fc.nat(99),
    at: fc.double({ min: 0, max: 0.999, noNaN: true }),
    byte: fc.nat(255),
    cuts: fc.boolean(),
  });
  let runs = 0;
  const property = fc.asyncProperty(damage, async ({ array, file, at, byte, cuts }) => {
    const path = join(folder, String(runs++));
    const metadata = await writeZarr(path, arrays[array]!);
    const files = (await readdir(path, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
    const chosen = files.sort((a, b) => (join(a.parentPath, a.name) < join(b.parentPath, b.name) ? -1 : 1))[
      file % files.length
    ]!;
    const bytes = await readFile(join(chosen.parentPath, chosen.name));
    const place = Math.floor(at * bytes.length);
    bytes[place] = byte;
    await writeFile(join(chosen.parentPath, chosen.name), cuts ? bytes.subarray(0, place) : bytes);
    const outer = arrays[array]!.shape.length > 2 ? [0] : [];
    try {
      await decodeWhole(planeUri({ file: metadata, axes: outer.map(() => 'c'), indices: outer }));
    } catch (error) {
      assert.ok(error instanceof InputError, String(error));
    }
  });
  await fc.assert(property, { numRuns: repeated(60) });
});
