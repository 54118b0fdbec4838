import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { readFrames } from './read-frames.ts';
import { grayByFfmpeg, height, makeVideo, noFfmpeg, videoKinds, width } from './testing/videos.ts';

test('frames of a video by number are those that FFmpeg decodes', { skip: noFfmpeg }, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'halogrid-frames-'));
  t.after(() => rm(folder, { recursive: true }));
  const path = join(folder, 'a.mp4');
  makeVideo(path, videoKinds['h264.mp4']!);
  const gray = grayByFfmpeg(path);
  const numbers = [];
  for await (const { frame, pixels: luma, ...size } of readFrames(
    pathToFileURL(path).href,
    new Set([40, 3, 5, 1000]),
  )) {
    numbers.push(frame);
    assert.deepEqual(size, { width, height, pixel: 'u8' });
    assert.ok(gray.subarray(frame * luma.length, (frame + 1) * luma.length).equals(luma));
  }
  assert.deepEqual(numbers, [3, 5, 40]);
});
