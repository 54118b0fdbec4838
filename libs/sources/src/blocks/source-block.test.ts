import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { cutSources, packSources } from './pack-sources.ts';
import { type BlockSource, SourceBlock, SourceBlockError } from './source-block.ts';

const sizes = fc.oneof(fc.nat(), fc.maxSafeNat());
const versions = fc.oneof(
  fc.tuple(sizes, fc.double({ min: 0, max: 1e15 })).map(([size, time]) => `${size} ${time}`),
  fc.constantFrom('', '"etag" 12', '007 5', '5 1e3', '5 -0', '5 NaN', '12 1700000000123.4567 5e'),
  fc.string(),
);
/** Frames of folders, whose URIs begin alike, with names and versions of all kinds. */
const source: fc.Arbitrary<BlockSource> = fc
  .record(
    {
      index: fc.nat(),
      uri: fc
        .tuple(fc.constantFrom('file:///a/frame-', 's3://b/é', ''), fc.string({ unit: 'grapheme' }))
        .map((parts) => parts.join('')),
      sizeBytes: sizes,
      version: versions,
      preview: fc.constant(true as const),
      place: fc.record({ packet: fc.nat(), order: fc.nat() }, { requiredKeys: ['packet'] }),
    },
    { requiredKeys: ['index', 'uri', 'sizeBytes'] },
  )
  .chain((one) =>
    fc.record({
      ...(Object.fromEntries(Object.entries(one).map(([key, value]) => [key, fc.constant(value)])) as never as {
        [Key in keyof BlockSource]: fc.Arbitrary<BlockSource[Key]>;
      }),
      version:
        one.version === undefined
          ? fc.constant(undefined)
          : fc.constantFrom(one.version, `${one.sizeBytes} 1700000000123.456`),
    }),
  )
  .map((one) => JSON.parse(JSON.stringify(one)) as BlockSource);

const asNamed = (sources: readonly BlockSource[]): BlockSource[] =>
  sources.map((one, i) => ({
    ...one,
    name: i % 3 === 0 ? `of its own ${i}` : [...one.uri].slice(-Math.ceil(i / 2)).join(''),
  }));

test('what is read of a block is what was put into it', () => {
  fc.assert(
    fc.property(fc.array(source), fc.boolean(), (drawn, withNames) => {
      const sources = withNames ? asNamed(drawn) : drawn;
      const block = new SourceBlock(packSources(sources));
      assert.equal(block.length, sources.length);
      assert.deepEqual([...block.slice()], sources);
    }),
  );
});

test('a range of a block is the block of that range', () => {
  fc.assert(
    fc.property(fc.array(source, { minLength: 1 }), fc.nat(), fc.nat(), (sources, a, b) => {
      const [from, end] = [a % sources.length, b % (sources.length + 1)];
      const cut = cutSources(packSources(sources), from, Math.max(from, end));
      assert.deepEqual(Buffer.from(cut), Buffer.from(packSources(sources.slice(from, Math.max(from, end)))));
    }),
  );
});

const frames = Array.from({ length: 2048 }, (_, index): BlockSource => {
  const uri = `file:///archive/2026-01-31/camera-07/frame-${String(index).padStart(8, '0')}.jpg`;
  const sizeBytes = 20_000 + index;
  return { index: 70_000 + index, uri, sizeBytes, version: `${sizeBytes} 17${String(index).padStart(8, '0')}.25` };
});

test('a frame of a folder takes less than 22 bytes', () => {
  assert.ok(packSources(frames).length < 22 * frames.length);
});

test('a block with a byte changed, cut off or added is refused', () => {
  const good = packSources(frames.slice(0, 20));
  const refused = (bytes: Uint8Array): void => assert.throws(() => new SourceBlock(bytes), SourceBlockError);
  for (let at = 0; at < good.length; at++) {
    const changed = new Uint8Array(good);
    changed[at]! ^= 1 << (at % 8);
    refused(changed);
    refused(good.subarray(0, at));
  }
  refused(Buffer.concat([good, new Uint8Array(1)]));
});

test('a block that somebody made to harm, with its checksum right, is refused or read within its bounds', () => {
  const good = packSources(asNamed(frames.slice(0, 9)));
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(good.length - 5), fc.nat(255)), { minLength: 1, maxLength: 8 }), (changes) => {
      const bytes = Buffer.from(good);
      for (const [at, value] of changes) bytes[4 + at] = value;
      bytes.writeUInt32LE(crc32(bytes.subarray(4)));
      try {
        const block = new SourceBlock(bytes);
        for (const { uri } of block.slice()) assert.ok(uri.length < bytes.length * 10);
      } catch (error) {
        assert.ok(error instanceof SourceBlockError, `${error}`);
      }
    }),
    { numRuns: 2000 },
  );
});

test('a few bytes do not stand for texts without end', () => {
  const long = 'x'.repeat(8000);
  const many = Array.from({ length: 20_000 }, (_, index) => ({ index, uri: long, sizeBytes: 0 }));
  assert.throws(() => packSources(many), RangeError);
  assert.equal(new SourceBlock(packSources(many.slice(0, 4096))).uri(4095), long);
});
