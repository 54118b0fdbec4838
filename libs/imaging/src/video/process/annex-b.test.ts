import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { noFfmpeg } from '../testing/videos.ts';
import { annexB, unitLayoutOf } from './annex-b.ts';

const folder = mkdtempSync(join(tmpdir(), 'halogrid-annex-b-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/**
 * Digests of the units of a stream behind start codes, in any order: the filter puts parameter sets behind messages.
 */
function unitsOf(stream: Buffer): string[] {
  const units = stream.toString('latin1').split('\0\0\x01').slice(1);
  return units.map((unit) => digestOf(unit.replace(/\0+$/, ''))).sort();
}

const digestOf = (text: string): string => createHash('sha256').update(text, 'latin1').digest('hex');

/** The content of the box of that name, in an MP4 file that has one. */
function boxOf(file: Buffer, name: string): Buffer {
  const at = file.indexOf(name, 0, 'latin1');
  return file.subarray(at + 4, at - 4 + file.readUInt32BE(at - 4));
}

for (const [codec, encoder, box, filter] of [
  ['h264', 'libx264', 'avcC', 'h264_mp4toannexb'],
  ['hevc', 'libx265', 'hvcC', 'hevc_mp4toannexb'],
] as const) {
  test(`units of ${codec} equal the units that ffmpeg makes of the same file`, { skip: noFfmpeg }, () => {
    const path = join(folder, `${codec}.mp4`);
    const source = '-f lavfi -i testsrc2=s=160x144:r=25 -frames:v 3';
    const quiet = codec === 'hevc' ? '-x265-params log-level=none' : '-x264-params slices=2';
    execFileSync('ffmpeg', `-v error ${source} -c:v ${encoder} ${quiet} ${path}`.split(' '));
    const expected = execFileSync('ffmpeg', `-v error -i ${path} -c copy -bsf:v ${filter} -f ${codec} -`.split(' '));
    const file = readFileSync(path);
    const { lengthBytes, parameterSets } = unitLayoutOf(codec, boxOf(file, box));
    assert.equal(lengthBytes, 4);
    const media = annexB(codec, boxOf(file, 'mdat'), lengthBytes)!;
    assert.deepEqual(unitsOf(Buffer.concat([parameterSets, media.bytes])), unitsOf(expected));
    assert.equal(media.slices, codec === 'h264' ? 6 : 3);
  });
}

test('a packet whose lengths do not add up, or without a picture, gives nothing', () => {
  const slice = [0, 0, 0, 2, 0x65, 7];
  const units = (...bytes: number[]) => annexB('h264', Buffer.from(bytes), 4);
  assert.deepEqual(units(...slice), { bytes: Buffer.from([0, 0, 0, 1, 0x65, 7]), slices: 1 });
  assert.equal(units(...slice, 0), undefined);
  assert.equal(units(0, 0, 0, 3, 0x65, 7), undefined);
  assert.equal(units(0, 0, 0, 0, ...slice), undefined);
  assert.equal(units(0, 0, 0, 2, 0x06, 7), undefined);
  assert.equal(units(), undefined);
});

test('a stream that has start codes already stays as it is', () => {
  const stream = Buffer.from([0, 0, 0, 1, 0x67, 1, 0, 0, 1, 0x65, 2]);
  assert.deepEqual(unitLayoutOf('h264', stream), { lengthBytes: 0, parameterSets: stream });
  assert.equal(annexB('h264', stream, 0)!.bytes, stream);
});

test('a record that ends early is refused', () => {
  const record = Buffer.from([1, 100, 0, 30, 255, 225, 0, 9, 1]);
  assert.throws(() => unitLayoutOf('h264', record), RangeError);
});
