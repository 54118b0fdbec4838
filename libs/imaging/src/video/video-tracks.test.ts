// Which track of a file is the video, where it begins, and the message for one that cannot be decoded.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { isVideoFile } from './is-video-file.ts';
import { type Decoded, decodeInOneProcess, decodeInSegments, indexOnce } from './testing/segments.ts';
import {
  grayByFfmpeg,
  height,
  makeVideo,
  makeVideos,
  noFfmpeg,
  runFfmpeg,
  videoKinds,
  width,
} from './testing/videos.ts';

const skip = noFfmpeg;
const folder = mkdtempSync(join(tmpdir(), 'halogrid-video-tracks-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const pathOf = (name: string): string => join(folder, name);

before(() => {
  if (skip) return;
  makeVideos([
    { path: pathOf('film.mkv'), encoder: videoKinds['h264-open.mkv']! },
    { path: pathOf('film.avi'), encoder: videoKinds['mjpeg.avi']! },
  ]);
  makeVideo(pathOf('cover.jpg'), [], 1);
  makeVideo(pathOf('cover.png'), [], 1);
});

/** Puts the first tracks of files side by side, as they are. */
function sideBySide(to: string, ...from: string[]): string {
  const inputs = from.flatMap((name) => ['-i', pathOf(name)]);
  runFfmpeg([...inputs, ...from.flatMap((_, i) => ['-map', `${i}:v`]), '-c', 'copy', pathOf(to)]);
  return pathOf(to);
}

/** All frames of a file, the same however it is cut. */
async function framesOf(path: string): Promise<Decoded> {
  const uri = pathToFileURL(path).href;
  const index = await indexOnce(uri);
  const cut = async (aim: number) =>
    await decodeInSegments(uri, { aim, most: 1000 }, { index, decode: decodeInOneProcess });
  const whole = await cut(1000);
  const parts = await cut(4);
  assert.ok(parts.segments > 1);
  assert.deepEqual({ ...parts, segments: 1 }, whole);
  return whole;
}

function assertFrames({ frames, bad }: Decoded, gray: Buffer): void {
  assert.deepEqual(bad, new Map());
  assert.equal(frames.size * width * height, gray.length);
  for (const [frame, luma] of frames) {
    const expected = gray.subarray(frame * luma.length, (frame + 1) * luma.length);
    assert.ok(Buffer.compare(luma, expected) === 0, `frame ${frame} differs`);
  }
}

for (const [to, ...stills] of [
  ['thumbnail.mkv', 'cover.jpg'],
  ['thumbnail.mkv', 'cover.png'],
  ['thumbnail.mkv', 'cover.jpg', 'cover.png'],
  ['thumbnail.mp4', 'cover.jpg'],
] as const) {
  test(`the film counts in ${to}, whose first tracks are ${stills.join(' and ')}`, { skip }, async () => {
    assertFrames(await framesOf(sideBySide(to, ...stills, 'film.mkv')), grayByFfmpeg(pathOf('film.mkv')));
  });
}

test('a Matroska behind an element that holds nothing is read', { skip }, async () => {
  const path = pathOf('void-first.mkv');
  for (const empty of [
    [0xec, 0x80],
    [0xec, 0x84, 0, 0, 0, 0],
    [0xec, 0x40, 0xc8, ...Array(200).fill(0)],
  ]) {
    writeFileSync(path, Buffer.concat([Buffer.from(empty), readFileSync(pathOf('film.mkv'))]));
    assert.ok(await isVideoFile(pathToFileURL(path).href));
    assertFrames(await framesOf(path), grayByFfmpeg(pathOf('film.mkv')));
  }
});

test('the first of two films in a file counts, even if it consists of JPEGs', { skip }, async () => {
  const { frames, bad } = await framesOf(sideBySide('two.mkv', 'film.avi', 'film.mkv'));
  assert.deepEqual([frames.size, bad], [48, new Map()]);
  assert.deepEqual(frames, (await framesOf(pathOf('film.avi'))).frames);
  assertFrames(await framesOf(sideBySide('other.mkv', 'film.mkv', 'film.avi')), grayByFfmpeg(pathOf('film.mkv')));
});

test('a codec that nobody knows is refused by what the container calls it', { skip }, async () => {
  const bytes = readFileSync(pathOf('film.avi')).toString('latin1');
  for (const [tag, called] of [
    ['ABC9', " ('ABC9')"],
    ['A\x01\xff9', ' (0x39ff0141)'],
  ] as const) {
    const path = pathOf('unknown.avi');
    writeFileSync(path, bytes.replaceAll('MJPG', tag), 'latin1');
    await assert.rejects(indexOnce(pathToFileURL(path).href), {
      name: 'InputError',
      stage: 'decode',
      message: `Video of a codec that FFmpeg does not know${called} is not supported: H.264, H.265, AV1, VP9, MJPEG and MPEG-4 are`,
    });
  }
});
