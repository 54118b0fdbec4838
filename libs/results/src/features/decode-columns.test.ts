import assert from 'node:assert/strict';
import { test } from 'node:test';
import { repeated } from '@halogrid/testing';
import fc from 'fast-check';
import { snappyCompress } from 'hyparquet-writer/src/snappy.js';
import { ColumnError } from './column-error.ts';
import { columnPage } from './column-page.ts';
import { decodeFlags, decodeLevels, decodePlain, decodeTexts } from './decode-columns.ts';
import { deltaPack, deltaPackedBytes } from './delta-pack.ts';
import { deltaUnpack } from './delta-unpack.ts';
import { encodeFlags, encodeLevels, encodeOptional } from './number-columns.ts';
import { pageValues, readPageHeader } from './raw-page.ts';
import { snappyUncompress } from './snappy.ts';
import { TextList } from './text-list.ts';

const numRuns = repeated(100, 1000);
const flags = fc
  .array(fc.tuple(fc.boolean(), fc.integer({ min: 1, max: 20 })), { maxLength: 12 })
  .map((runs) => runs.flatMap(([flag, times]) => Array<boolean>(times).fill(flag)));
const count = fc.oneof(fc.nat(3), fc.nat(300), fc.nat({ max: 2 ** 31 - 1 }), fc.constantFrom(0, 2 ** 31 - 1));

function packed(values: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(deltaPackedBytes(values.length));
  return bytes.subarray(0, deltaPack(values, values.length, new DataView(bytes.buffer), 0));
}

test('columns are read as they were written', () => {
  const property = fc.property(
    flags,
    fc.array(count, { maxLength: 600 }),
    fc.array(fc.option(fc.string({ unit: 'grapheme' }), { nil: null })),
    fc.array(fc.oneof(fc.maxSafeNat(), fc.constant(Number.NaN))),
    (some, counts, texts, numbers) => {
      const levels = some.map(Number);
      assert.deepEqual([...decodeLevels(encodeLevels(levels), some.length)], levels);
      assert.deepEqual([...decodeFlags(encodeFlags(some).data, some.length)], levels);
      if (counts.length > 0) {
        const into = new Uint32Array(counts.length);
        const bytes = packed(counts);
        assert.equal(deltaUnpack(bytes, 0, into), bytes.length);
        assert.deepEqual([...into], counts);
      }
      const list = new TextList();
      for (const text of texts) list.add(text);
      const { data, definitionLevels, nulls } = list.encode(true);
      assert.deepEqual(
        [...decodeLevels(definitionLevels!, texts.length)],
        texts.map((text) => (text === null ? 0 : 1)),
      );
      assert.deepEqual(
        decodeTexts(data, texts.length - nulls, 1000),
        texts.filter((text) => text !== null),
      );
      const known = numbers.filter((number) => !Number.isNaN(number));
      const plain = new Float64Array(known.length);
      decodePlain(encodeOptional('INT64', Float64Array.from(numbers)).data, plain);
      assert.deepEqual([...plain], known);
    },
  );
  fc.assert(property, { numRuns });
});

test('pages are read as they were made', () => {
  const data = fc.oneof(
    fc.uint8Array({ maxLength: 2000 }),
    fc.tuple(fc.uint8Array({ maxLength: 20 }), fc.nat(200)).map(([some, times]) => {
      return Uint8Array.from(
        Array<number[]>(times)
          .fill([...some])
          .flat(),
      );
    }),
  );
  const property = fc.property(data, flags, (values, some) => {
    const definitionLevels = encodeLevels(some.map(Number));
    const column = { encoding: 'PLAIN' as const, values: some.length, nulls: 3, data: values, definitionLevels };
    const { bytes, isCompressed } = columnPage(some.length, column);
    const header = readPageHeader(bytes);
    const { headerBytes, definitionBytes, dataBytes, ...facts } = header;
    assert.deepEqual(facts, {
      rows: some.length,
      encoding: 'PLAIN',
      values: some.length,
      nulls: 3,
      repetitionBytes: 0,
      isCompressed,
      plainBytes: values.length,
    });
    const at = headerBytes + definitionBytes;
    assert.equal(at + dataBytes, bytes.length);
    assert.deepEqual(Buffer.from(bytes.subarray(headerBytes, at)), Buffer.from(definitionLevels));
    assert.deepEqual(Buffer.from(pageValues(header, bytes.subarray(at), values.length)), Buffer.from(values));
    if (values.length > 0) {
      const refused = () => pageValues(header, bytes.subarray(at), values.length - 1);
      assert.throws(refused, { name: 'ColumnError', message: /^has a page of \d+ bytes, more than \d+$/ });
    }
  });
  fc.assert(property, { numRuns });
});

test('reading any bytes comes to an end, or is refused with ColumnError', () => {
  const good = [
    packed([5, 9, 0, 2 ** 31 - 1, ...Array(200).keys()]),
    snappyCompress(Buffer.from('abcabcabcabcabcabc'.repeat(9))),
    columnPage(9, encodeOptional('INT64', new Float64Array(9))).bytes,
    encodeLevels([1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]),
  ];
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 80 }),
    fc
      .tuple(fc.constantFrom(...good), fc.array(fc.tuple(fc.nat(300), fc.nat(255)), { maxLength: 4 }), fc.nat(300))
      .map(([of, changes, length]) => {
        const changed = Uint8Array.from(of);
        for (const [at, value] of changes) changed[at % changed.length] = value;
        return changed.subarray(0, length);
      }),
  );
  const readers = [
    (of: Uint8Array) => deltaUnpack(of, 0, new Uint32Array(204)),
    (of: Uint8Array) => decodeTexts(of, 20, 30),
    (of: Uint8Array) => decodeLevels(of, 14),
    (of: Uint8Array) => decodeFlags(of, 100),
    (of: Uint8Array) => decodePlain(of, new Float64Array(4)),
    (of: Uint8Array) => snappyUncompress(of, new Uint8Array(162)),
    (of: Uint8Array) => readPageHeader(of),
  ];
  const property = fc.property(bytes, (of) => {
    for (const read of readers) {
      try {
        read(of);
      } catch (error) {
        assert.ok(error instanceof ColumnError, String(error));
      }
    }
  });
  fc.assert(property, { numRuns: repeated(500, 20_000) });
});

const notPacked = (numbers: number) => `does not hold ${numbers} packed numbers`;
const longText = Buffer.concat([packed([0]), packed([3]), Buffer.from('abc')]);
const unpack = (count: number, bytes: readonly number[]) =>
  deltaUnpack(Uint8Array.from(bytes), 0, new Uint32Array(count));
const uncompress = (...bytes: number[]) => snappyUncompress(Uint8Array.from(bytes), new Uint8Array(9));

test('bytes that make other decoders go in a circle, or read another number, are refused', () => {
  const table: [string, () => unknown][] = [
    // A literal of 2^32 - 15 bytes.
    ['has more than the 9 bytes that it says', () => uncompress(9, 63 << 2, 0xf0, 255, 255, 255, 0)],
    ['refers to bytes before its first', () => uncompress(9, 1 | (5 << 2), 0)],
    ['has 1 bytes instead of 9', () => uncompress(9, 0, 7)],
    // -1 miniblocks of a block.
    [notPacked(200), () => unpack(200, [0x80, 1, 255, 255, 255, 255, 15, 0xc8, 1, 0])],
    [notPacked(2), () => unpack(2, [...packed([1, 2, 3])])],
    [notPacked(3), () => unpack(3, [...packed([1, 2, 3])].slice(0, -1))],
    [notPacked(1), () => unpack(1, [0x80, 1, 4, 1, 1])],
    ['has a text of more than 2 bytes', () => decodeTexts(longText, 1, 2)],
    ['has other levels than rows', () => decodeLevels(Uint8Array.of(0, 0, 0, 0), 3)],
    ['has other levels than rows', () => decodeLevels(Uint8Array.of(255, 255, 255, 255, 15), 3)],
    ['has the number -1', () => decodePlain(new Uint8Array(8).fill(255), new Float64Array(1))],
    ['has the number 9007199254740992', () => decodePlain(Uint8Array.of(0, 0, 0, 0, 0, 0, 32, 0), new Float64Array(1))],
  ];
  for (const [message, read] of table) assert.throws(read, { name: 'ColumnError', message });
});
