import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JpegChunk } from '../frame/chunk.ts';
import { destuff } from './destuff.ts';

const bytesOf = ({ words }: JpegChunk, from: number, to: number): number[] =>
  Array.from({ length: to - from }, (_, i) => (words[(from + i) >> 2]! >>> (24 - 8 * ((from + i) & 3))) & 255);
const marksOf = ({ marks }: JpegChunk): number[] =>
  Array.from({ length: 32 * marks.length }, (_, i) => i).filter((i) => ((marks[i >> 5]! >>> (i & 31)) & 1) === 1);

/** Bytes as they are in a file: FF is followed by 00. */
const stuff = (data: readonly number[]): number[] => data.flatMap((byte) => (byte === 255 ? [255, 0] : [byte]));

test('chunks contain all bytes once, and the four bytes after them, for every position of FF 00', () => {
  const data = fc.array(fc.oneof(fc.constant(255), fc.nat(255)), { minLength: 1, maxLength: 400 });
  fc.assert(
    fc.property(data, (bytes) => {
      const { chunks, last } = destuff(Uint8Array.from([...stuff(bytes), 0xff, 0xd9]));
      const live = chunks.slice(0, last + 1);
      assert.deepEqual(
        live.flatMap((chunk) => bytesOf(chunk, 0, chunk.length)),
        bytes,
      );
      let at = 0;
      for (const chunk of live) {
        at += chunk.length;
        const ahead = bytes.slice(at, at + 4);
        assert.deepEqual(bytesOf(chunk, chunk.length, chunk.length + ahead.length), ahead);
        assert.equal(chunk.isOdd, false);
      }
    }),
  );
});

test('a restart marker on the border belongs to the next chunk, and each is seen once', () => {
  for (let before = 58; before <= 66; before++) {
    const data = [...Array(before).fill(1), 0xff, 0xd3, ...Array(30).fill(2), 0xff, 0xd9];
    const { chunks, last } = destuff(Uint8Array.from(data));
    const live = chunks.slice(0, last + 1);
    const own = live.map((chunk) => marksOf(chunk).filter((mark) => mark < chunk.length));
    assert.deepEqual(own, before + 2 < 64 ? [[before], []] : [[], [Math.max(0, before - 64)]], String(before));
    assert.equal(live[before + 2 < 64 ? 0 : 1]!.firstRestart, 3);
    // The chunk before knows that its bits end there, if the marker is within the bytes that it searches.
    if (before <= 64 && before + 2 >= 64) assert.ok(marksOf(live[0]!).includes(before), String(before));
    assert.deepEqual(
      live.flatMap((chunk) => bytesOf(chunk, 0, chunk.length)),
      [...Array(before).fill(1), ...Array(30).fill(2)],
    );
  }
});

test('the end is the first marker that is not a restart marker, and bytes after it do not count', () => {
  const tail = [0xff, 0xd9, ...Array(200).fill(0xff)];
  const { chunks, last } = destuff(Uint8Array.from([...Array(70).fill(9), ...tail]));
  assert.equal(last, 1);
  assert.deepEqual([chunks[1]!.length, chunks[1]!.end, chunks[1]!.isOdd], [6, 6, false]);
  assert.equal(destuff(Uint8Array.from(Array(70).fill(9))).last, -1);
  const { chunks: others } = destuff(Uint8Array.from([1, 2, 3, 0xff, 0xda, 0, 0]));
  assert.ok(others[0]!.isOdd, 'a marker that is not the end of an image');
});
