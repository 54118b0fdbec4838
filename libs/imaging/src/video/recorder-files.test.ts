// What recorders export: program streams, files of Dahua and Hikvision, streams in no container.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { isVideoFile } from './is-video-file.ts';
import { dahuaFile, hikvisionHeader, picturesOf, programStream } from './testing/recorder-files.ts';
import { decodeInOneProcess, decodeInSegments, indexInProcess } from './testing/segments.ts';
import { grayByFfmpeg, height, makeVideo, noFfmpeg, width } from './testing/videos.ts';
import { openVideoFile } from './video-file.ts';

const skip = noFfmpeg;
const folder = mkdtempSync(join(tmpdir(), 'halogrid-recorder-files-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const pathOf = (name: string): string => join(folder, name);
let pictures: Buffer[];
before(() => {
  if (skip) return;
  const h264 = ['-pix_fmt', 'yuv420p', '-c:v', 'libx264', '-bf', '0', '-g', '12', '-x264-params', 'aud=1'];
  makeVideo(pathOf('whole.264'), h264);
  pictures = picturesOf(readFileSync(pathOf('whole.264')));
});

const kinds: Record<string, () => Buffer> = {
  'hikvision.mp4': () => Buffer.concat([hikvisionHeader, programStream(pictures)]),
  'program-stream.mpg': () => programStream(pictures),
  'dahua.dav': () => dahuaFile(pictures, width, height),
};

for (const [name, bytes] of Object.entries(kinds)) {
  test(`${name}: every frame and its time, however it is cut`, { skip }, async () => {
    writeFileSync(pathOf(name), bytes());
    const uri = pathToFileURL(pathOf(name)).href;
    assert.equal(await isVideoFile(uri), true);
    const expected = grayByFfmpeg(pathOf('whole.264'));
    for (const length of [
      { aim: 3, most: 5 },
      { aim: 20, most: 1000 },
      { aim: 1000, most: 1000 },
    ]) {
      const { frames, bad, times } = await decodeInSegments(uri, length, { decode: decodeInOneProcess });
      assert.deepEqual(bad, new Map());
      const all = Array.from({ length: 48 }, (_, frame) => frames.get(frame)!);
      assert.ok(Buffer.concat(all).equals(expected), JSON.stringify(length));
      for (const [frame, ms] of times) assert.equal(ms, 40 * frame);
    }
  });
}

test('segments of program streams and of streams in no container are sought, and files of Dahua are read through', {
  skip,
}, async () => {
  const isSought = async (name: string): Promise<boolean> => {
    const file = await openVideoFile(pathToFileURL(pathOf(name)).href);
    const lines = await Array.fromAsync(indexInProcess(file));
    file.close();
    return lines.every(({ kind }) => kind !== 'unreached');
  };
  assert.equal(await isSought('hikvision.mp4'), true);
  assert.equal(await isSought('program-stream.mpg'), true);
  assert.equal(await isSought('whole.264'), true);
  assert.equal(await isSought('dahua.dav'), false);
});

test('a file that only begins as one of a recorder is named for what it claims to be', { skip }, async () => {
  const path = pathOf('claims.dav');
  const claims: [start: string, message: RegExp][] = [
    ['DHAV', /^The file begins as a recording of a Dahua recorder, but is not one: /],
    ['IMKH', /^The file begins as a recording of a Hikvision recorder, but is not one: /],
    ['\0\0\x01\xba', /^The file begins as an MPEG program stream, but is not one: /],
  ];
  for (const [start, message] of claims) {
    writeFileSync(path, Buffer.concat([Buffer.from(start, 'latin1'), Buffer.alloc(2000)]));
    await assert.rejects(decodeInSegments(pathToFileURL(path).href, { aim: 9, most: 9 }), {
      name: 'InputError',
      stage: 'decode',
      message,
    });
  }
});
