import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type MadeUpJpeg, writeJpeg } from '../testing/write-jpeg.ts';
import { JpegFrameReader } from './frame-reader.ts';
import { readJpegFrame } from './read-frame.ts';

const made: MadeUpJpeg = {
  width: 40,
  height: 40,
  restartMcus: 0,
  density: 5,
  bits: 3,
  quantiser: 4,
  sharesTables: false,
  seed: 3,
  samplings: [[1, 1]],
};
const jpeg = writeJpeg(made);

test('files with the same header share a frame, and others have their own', () => {
  const reader = new JpegFrameReader();
  const frame = reader.read(jpeg);
  assert.deepEqual(frame, readJpegFrame(jpeg));
  // The memory of a file is used for another one.
  for (const memory of [new Uint8Array(jpeg), Buffer.from(jpeg)]) {
    const own = new JpegFrameReader();
    const first = own.read(memory);
    memory.fill(0);
    assert.deepEqual(first, readJpegFrame(jpeg));
    assert.equal(own.read(jpeg), first);
  }
  for (let seed = 4; seed < 40; seed++) {
    const other = writeJpeg({ ...made, seed });
    assert.deepEqual(reader.read(other), readJpegFrame(other));
    assert.equal(reader.read(jpeg), frame);
  }
});

test('a known header of a file that is too short for it is refused', () => {
  const reader = new JpegFrameReader();
  const frame = reader.read(jpeg);
  assert.ok(typeof frame !== 'string');
  for (const length of [frame.dataStart - 1, frame.dataStart, frame.dataStart + 5]) {
    const cut = jpeg.subarray(0, length);
    assert.equal(reader.read(cut), readJpegFrame(cut));
    assert.equal(typeof reader.read(cut), 'string');
  }
});
