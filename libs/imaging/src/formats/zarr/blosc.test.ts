import assert from 'node:assert/strict';
import { test } from 'node:test';
import { repeated } from '@halogrid/testing';
import fc from 'fast-check';
import Blosc from 'numcodecs/blosc';
import Lz4 from 'numcodecs/lz4';
import { decodeBlosc } from './blosc.ts';
import { boundedCodecs } from './bounded-codecs.ts';

// Worth its seconds: the decoder of the most usual codec of Zarr is our own, and C-Blosc makes what it reads.

/** Bytes that compress in several ways: runs, repetitions near and far, slopes, noise. */
const pieces = fc.array(
  fc.record({
    kind: fc.constantFrom('run', 'noise', 'slope', 'again'),
    length: fc.integer({ min: 1, max: 30_000 }),
    seed: fc.nat(255),
  }),
  { minLength: 1, maxLength: 8 },
);
function bytesOf(all: readonly { kind: string; length: number; seed: number }[]): Uint8Array {
  const bytes = new Uint8Array(all.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  let state = 1;
  for (const { kind, length, seed } of all) {
    for (let i = 0; i < length; i++, at++) {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223 + seed) >>> 0;
      const again = bytes[at - 1 - ((seed * 97) % Math.max(1, at))] ?? 0;
      bytes[at] = { run: seed, noise: state >>> 24, slope: (i >> 5) + seed, again }[kind]!;
    }
  }
  return bytes;
}

const settings = fc.record({
  codec: fc.constantFrom('blosclz', 'lz4', 'lz4hc', 'zlib', 'zstd'),
  level: fc.constantFrom(0, 1, 5, 9),
  shuffle: fc.constantFrom(0, 1, 2),
  block: fc.constantFrom(0, 128, 1000, 4096, 65_536),
});
const encode = async (
  { codec, level, shuffle, block }: { codec: string; level: number; shuffle: number; block: number },
  bytes: Uint8Array,
) => Buffer.from(await new Blosc(level, codec as 'lz4', shuffle as 0, block).encode(bytes));

test('what C-Blosc compresses by any of its codecs is decoded to the same bytes', async () => {
  const property = fc.asyncProperty(settings, pieces, async (how, all) => {
    const bytes = bytesOf(all);
    assert.ok(Buffer.from(decodeBlosc(await encode(how, bytes), bytes.length)).equals(bytes));
    const lz4 = boundedCodecs.lz4!.fromConfig({}, { dataType: 'uint8', shape: [bytes.length] });
    assert.ok(Buffer.from(await lz4.decode(await new Lz4().encode(bytes))).equals(bytes));
  });
  await fc.assert(property, { numRuns: repeated(60) });
});

test('damaged and cut chunks of Blosc are refused, or have as many bytes as they say', async () => {
  const damage = fc.record({
    at: fc.double({ min: 0, max: 0.999, noNaN: true }),
    byte: fc.nat(255),
    cuts: fc.boolean(),
  });
  let refused = 0;
  const property = fc.asyncProperty(settings, pieces, damage, async (how, all, { at, byte, cuts }) => {
    const bytes = bytesOf(all);
    const encoded = await encode(how, bytes);
    const place = Math.floor(at * encoded.length);
    encoded[place] = byte;
    try {
      assert.ok(decodeBlosc(cuts ? encoded.subarray(0, place) : encoded, bytes.length).length <= bytes.length);
      assert.ok(!cuts);
    } catch (error) {
      assert.ok(error instanceof Error && !(error instanceof assert.AssertionError), String(error));
      refused++;
    }
  });
  await fc.assert(property, { numRuns: repeated(100) });
  assert.ok(refused > 20, `${refused}`);
});

test('a chunk that promises too much, or that a codec of Blosc made that is not read, says so', async () => {
  const encoded = await encode({ codec: 'lz4', level: 5, shuffle: 1, block: 0 }, new Uint8Array(5000));
  const refused = (at: number, byte: number, message: string) => {
    const changed = Buffer.from(encoded);
    changed[at] = byte;
    assert.throws(() => decodeBlosc(changed, 5000), { message });
  };
  refused(7, 1, 'its header promises 16782216 bytes, more than the chunk has');
  refused(15, 1, `it has ${encoded.length} bytes, and its header says ${encoded.length + 2 ** 24}`);
  refused(2, 0x41, 'it is compressed by Snappy inside Blosc, which is not read');
  refused(2, 0xe1, 'it is compressed by codec 7 inside Blosc, which is not read');
});
