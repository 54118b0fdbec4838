import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import { varintLength, writeVarints } from '@halogrid/proto/varints';
import { sourceDigest } from '@halogrid/results/source-digest';
import fc from 'fast-check';
import { FrameRows } from '../log/frame-rows.ts';
import { FrameReader } from './frame-reader.ts';

const reader = new FrameReader();

const count = fc.oneof(
  fc.nat(200),
  fc.nat(2 ** 14),
  fc.nat(2 ** 15),
  fc.nat({ max: 2 ** 32 - 1 }),
  fc.constant(2 ** 32 - 1),
);

/** Frames of `channels` times `bins` counts, every channel of which holds the same ones in another order. */
const frames = fc
  .record({ channels: fc.integer({ min: 1, max: 3 }), bins: fc.integer({ min: 1, max: 40 }), isNear: fc.boolean() })
  .chain(({ channels, bins, isNear }) => {
    const frame = fc.array(count, { minLength: bins, maxLength: bins });
    return fc.record({
      ...{ channels: fc.constant(channels), bins: fc.constant(bins), isNear: fc.constant(isNear) },
      frames: fc.array(frame, { minLength: 1, maxLength: 200 }),
    });
  });

/** Each has just as many pixels as it counts. */
function packed(counts: readonly number[][], channels: number) {
  const all = counts.map((own) => Array.from({ length: channels }, (_, i) => (i % 2 ? own.toReversed() : own)).flat());
  const rows = new FrameRows(counts.length, false);
  for (const [i, own] of counts.entries()) {
    const pixels = own.reduce((sum, one) => sum + one, 0);
    // A prime number of pixels has one side of 1, and a side is below 2^32.
    rows.widths[i] = Math.min(2 ** 32 - 1, Math.max(1, pixels));
    rows.heights[i] = Math.max(1, Math.ceil(pixels / rows.widths[i]!));
    rows.counted[i] = pixels;
  }
  const flat = all.flat();
  const bytes = new Uint8Array(flat.reduce((sum, one) => sum + varintLength(one), 0));
  writeVarints(flat, bytes, 0);
  return { all, rows, bytes };
}

test('of any frames, digests are as they are defined, and sums, lengths and checksums are those of their counts', () => {
  fc.assert(
    fc.property(frames, fc.nat(5), ({ channels, bins, isNear, frames: counts }, before) => {
      const { all, rows, bytes } = packed(counts, channels);
      const read = reader.read(Buffer.concat([Buffer.alloc(before, 1), bytes]), before, {
        channels,
        bins,
        isNear,
        rows,
      })!;
      assert.equal(read.end, before + bytes.length);
      const sums = Array<bigint>(channels * bins).fill(0n);
      let at = 0;
      for (const [i, own] of all.entries()) {
        for (const [bin, one] of own.entries()) sums[bin]! += BigInt(one);
        const size = { width: rows.widths[i]!, height: rows.heights[i]! };
        const digest = sourceDigest(size, rows.counted[i]!, isNear ? [] : own);
        assert.deepEqual(Buffer.from(rows.digest(i)), Buffer.from(digest));
        const length = own.reduce((sum, one) => sum + varintLength(one), 0);
        assert.equal(rows.lengths[i], length);
        assert.equal(rows.checksums[i], crc32(bytes.subarray(at, at + length)));
        at += length;
      }
      assert.deepEqual([...read.sums], sums);
    }),
  );
});

test('nothing is read of counts that are short, too large, or of another number of pixels, or where there are too many pixels', () => {
  const whole = { channels: 2, bins: 3, isNear: false };
  const good = () =>
    packed(
      [
        [1, 2, 200],
        [0, 5, 7],
        [9, 9, 9],
      ],
      2,
    );
  const { rows, bytes } = good();
  assert.ok(reader.read(bytes, 0, { ...whole, rows }));
  assert.equal(reader.read(bytes.subarray(0, -1), 0, { ...whole, rows }), undefined);
  assert.equal(reader.read(bytes, 1, { ...whole, rows }), undefined);
  const large = Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0x1f, ...bytes.subarray(1));
  assert.equal(reader.read(large, 0, { ...whole, rows }), undefined);
  const endless = new Uint8Array(bytes.length).fill(0xff);
  assert.equal(reader.read(endless, 0, { ...whole, rows }), undefined);
  const changes: ((rows: FrameRows) => void)[] = [
    (rows) => rows.counted.fill(12, 1, 2) && rows.widths.fill(11, 1, 2),
    (rows) => rows.counted.fill(13, 1, 2),
    (rows) => rows.heights.fill(0, 2),
    (rows) => rows.counted.fill(Number.NaN, 0, 1),
  ];
  for (const change of changes) {
    const { rows, bytes } = good();
    change(rows);
    assert.equal(reader.read(bytes, 0, { ...whole, rows }), undefined);
  }
});
