import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JpegFrame } from '../frame/jpeg-frame.ts';
import { readJpegFrame } from '../frame/read-frame.ts';
import { type MadeUpJpeg, writeJpeg } from '../testing/write-jpeg.ts';
import { fileWords, layOutJpegs } from './batch-layout.ts';
import { tableWords } from './pack-tables.ts';

const made: MadeUpJpeg = {
  width: 400,
  height: 300,
  restartMcus: 0,
  density: 20,
  bits: 3,
  quantiser: 4,
  sharesTables: false,
  seed: 3,
  samplings: [[1, 1]],
};

function fileOf(one: MadeUpJpeg, offset: number) {
  const jpeg = writeJpeg(one);
  const frame = readJpegFrame(jpeg) as JpegFrame;
  return { frame, offset, bytes: jpeg.length, plane: { offset: 0, stride: 400 } };
}

test('files lie one after another in every buffer, without overlaps', () => {
  const files = [1, 2, 3].map((seed) => fileOf({ ...made, seed }, 100_000 * seed));
  const layout = layOutJpegs(files);
  const record = (i: number) => layout.files.subarray(i * fileWords, (i + 1) * fileWords);
  let groups = 0;
  let entries = 0;
  for (const [i, { frame, offset, bytes }] of files.entries()) {
    const [data, dataBytes, chunks, firstGroup, own] = record(i);
    assert.deepEqual([data, dataBytes], [offset + frame.dataStart, bytes - frame.dataStart]);
    assert.deepEqual([firstGroup, chunks], [groups, Math.ceil(dataBytes! / 64)]);
    assert.ok(own! * 128 >= chunks! && (own! - 1) * 128 < chunks!);
    groups += own!;
    const [firstEntry, most, starts, blockGroups] = record(i).subarray(16, 20);
    assert.deepEqual([firstEntry, starts], [entries, entries + most!]);
    entries = starts! + blockGroups! + 1;
  }
  assert.equal(layout.groups, groups);
  assert.deepEqual(layout.scratch.entries, 4 * entries);
});

test('equal tables of several files are stored once', () => {
  const same = fileOf(made, 0);
  const again = { ...same, frame: { ...same.frame } };
  const other = fileOf({ ...made, seed: 4 }, 0);
  assert.equal(layOutJpegs([same]).tables.length, 2 * tableWords + 64);
  assert.equal(layOutJpegs([same, same, again]).tables.length, 2 * tableWords + 64);
  assert.equal(layOutJpegs([same, other]).tables.length, 2 * (2 * tableWords + 64));
  // By this name a device recognises tables that it already has.
  const nameOf = (...files: ReturnType<typeof fileOf>[]) => layOutJpegs(files).tablesName;
  assert.equal(nameOf(same), nameOf(again, same));
  assert.equal(new Set([nameOf(same), nameOf(other), nameOf(same, other), nameOf(other, same)]).size, 4);
  const requantised = { ...same, frame: { ...same.frame, quantisers: same.frame.quantisers.map((q) => q + 1) } };
  assert.notEqual(nameOf(requantised), nameOf(same));
});

test('a plane that is not aligned to 8 pixels is refused', () => {
  const file = fileOf(made, 0);
  for (const plane of [
    { offset: 4, stride: 400 },
    { offset: 0, stride: 404 },
    { offset: 0, stride: 392 },
  ]) {
    assert.throws(() => layOutJpegs([{ ...file, plane }]), RangeError);
  }
});
