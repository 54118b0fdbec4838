import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import { runs } from '@halogrid/testing';
import fc from 'fast-check';
import { packSources, SourcePacker } from './pack-sources.ts';
import { BlockError, type BlockSource, SourceBlock } from './source-block.ts';

const sizes = fc.oneof(fc.nat(), fc.maxSafeNat());
const versions = fc.oneof(
  fc.tuple(sizes, fc.double({ min: 0, max: 1e15 })).map(([size, time]) => `${size} ${time}`),
  fc.constantFrom('', '"etag" 12', '007 5', '5 1e3', '5 -0', '5 NaN', '12 1700000000123.4567 5e'),
  fc.string(),
);
const text = fc
  .tuple(fc.constantFrom('file:///a/frame-', 's3://b/é', ''), fc.string({ unit: 'grapheme' }))
  .map((parts) => parts.join(''));
const frameVersion = (sizeBytes: number) => `${sizeBytes} 1700000000123.456`;

/** Sources of all kinds, whose URIs and names begin alike. */
const source: fc.Arbitrary<BlockSource> = fc
  .record(
    {
      index: fc.nat(),
      uri: text,
      name: text,
      sizeBytes: sizes,
      version: versions,
      pin: versions,
      preview: fc.constant(true as const),
      video: fc.record(
        { frame: fc.nat(), timestampMs: fc.option(fc.double({ noNaN: true })) },
        { noNullPrototype: true },
      ),
      place: fc.record({ packet: fc.nat(), order: fc.nat() }, { noNullPrototype: true, requiredKeys: ['packet'] }),
      size: fc.record(
        { width: fc.nat(), height: fc.nat(), pixel: fc.constantFrom('u8', 'u16') },
        { noNullPrototype: true, requiredKeys: ['width', 'height'] },
      ),
      tiles: fc.nat(),
      kept: text,
      known: fc.uint8Array().map((bytes) => Buffer.from(bytes)),
      mask: fc.record({ uri: text, version: versions }, { noNullPrototype: true, requiredKeys: ['uri'] }),
      error: fc.record({ stage: fc.constantFrom('read', 'decode'), error: text }, { noNullPrototype: true }),
      isListed: fc.boolean(),
      isHeld: fc.boolean(),
    },
    { noNullPrototype: true, requiredKeys: ['index', 'uri', 'name', 'sizeBytes', 'isListed', 'isHeld'] },
  )
  .map(({ isListed, isHeld, ...one }): BlockSource => {
    const version = isListed ? frameVersion(one.sizeBytes) : one.version;
    const pin = isHeld ? version : one.pin;
    const { version: _, pin: __, ...rest } = one;
    return { ...rest, ...(version !== undefined && { version }), ...(pin !== undefined && { pin }) };
  });

test('a block reads back as it was written', () => {
  fc.assert(
    fc.property(fc.array(source), (sources) => {
      const block = new SourceBlock(packSources(sources));
      assert.equal(block.length, sources.length);
      assert.deepEqual([...block], sources);
    }),
  );
});

test('a folder of its own is never missed', () => {
  fc.assert(
    fc.property(fc.array(source), (sources) => {
      const packer = new SourcePacker();
      const folder = (uri = '') => uri.slice(0, Math.max(0, uri.lastIndexOf('/')));
      for (const [i, one] of sources.entries()) {
        if (!packer.add(one)) assert.equal(folder(one.uri), folder(sources[i - 1]?.uri));
      }
    }),
  );
});

const frames = Array.from({ length: 2048 }, (_, index): BlockSource => {
  const uri = `file:///archive/2026-01-31/camera-07/frame-${String(index).padStart(8, '0')}.jpg`;
  const sizeBytes = 20_000 + index;
  const version = `${sizeBytes} 17${String(index).padStart(8, '0')}.25`;
  const name = `2026-01-31-camera-07-frame-${String(index).padStart(8, '0')}`;
  return { index: 70_000 + index, uri, name, sizeBytes, version, pin: version };
});

test('a frame of a folder takes less than 24 bytes', () => {
  assert.ok(packSources(frames).length < 24 * frames.length);
});

test('a block with a byte changed, cut off or added is refused', () => {
  const good = packSources(frames.slice(0, 20));
  const refused = (bytes: Uint8Array): void => assert.throws(() => new SourceBlock(bytes), BlockError);
  for (let at = 0; at < good.length; at++) {
    const changed = new Uint8Array(good);
    changed[at]! ^= 1 << (at % 8);
    refused(changed);
    refused(good.subarray(0, at));
  }
  refused(Buffer.concat([good, new Uint8Array(1)]));
});

test('a block that somebody made to harm, with its checksum right, is refused or read within its bounds', () => {
  const good = packSources(frames.slice(0, 9));
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(good.length - 5), fc.nat(255)), { minLength: 1, maxLength: 8 }), (changes) => {
      const bytes = Buffer.from(good);
      for (const [at, value] of changes) bytes[4 + at] = value;
      bytes.writeUInt32LE(crc32(bytes.subarray(4)));
      try {
        const block = new SourceBlock(bytes);
        for (const { uri } of block) assert.ok(uri.length < bytes.length * 10);
      } catch (error) {
        assert.ok(error instanceof BlockError, `${error}`);
      }
    }),
    { numRuns: runs(2_000) },
  );
});

test('a few bytes do not stand for texts without end', () => {
  const long = 'x'.repeat(8000);
  const many = Array.from({ length: 20_000 }, (_, index) => ({ index, uri: long, name: '', sizeBytes: 0 }));
  assert.throws(() => packSources(many), RangeError);
  assert.equal(new SourceBlock(packSources(many.slice(0, 4096))).uri(4095), long);
});

test('a block without masks is the one of earlier versions, which know none', () => {
  const source = { index: 0, uri: 'file:///a.tif', name: 'a', sizeBytes: 5 };
  const formatOf = (block: Uint8Array) => block[4];
  assert.equal(formatOf(packSources([source])), 3);
  const masked = packSources([source, { ...source, index: 1, mask: { uri: 'file:///m/a.png', version: '3 17' } }]);
  assert.equal(formatOf(masked), 4);
  assert.deepEqual(
    [...new SourceBlock(masked)].map(({ mask }) => mask),
    [undefined, { uri: 'file:///m/a.png', version: '3 17' }],
  );
});
