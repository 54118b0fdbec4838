// A segment of a long recording is at work before the recording has been listed.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { type IndexVideo, VideoIndexer } from './index-video.ts';
import { planVideo } from './plan-video.ts';
import { noFfmpeg, runFfmpeg } from './testing/videos.ts';

const skip = noFfmpeg;
const folder = mkdtempSync(join(tmpdir(), 'halogrid-first-segment-'));
const indexer = new VideoIndexer();
const once = join(folder, 'once.mp4');

before(() => {
  if (skip) return;
  const noise = 'color=gray:s=160x120:r=25,noise=alls=100:allf=t';
  runFfmpeg(['-f', 'lavfi', '-i', noise, '-frames:v', '24', '-c:v', 'mpeg4', '-q:v', '2', '-g', '12', once]);
});
after(async () => {
  await indexer.close();
  rmSync(folder, { recursive: true, force: true });
});

for (const name of ['long.ts', 'long.mkv', 'long.avi']) {
  test(`the first segment of ${name} is planned before the middle of the file is read`, { skip }, async () => {
    const path = join(folder, name);
    runFfmpeg(['-stream_loop', '39', '-i', once, '-c', 'copy', path]);
    const bytes = readFileSync(path);
    const first = Promise.withResolvers<void>();
    const read = async (position: number, length: number): Promise<Uint8Array> => {
      // An index may be at the end.
      if (position > 0.5 * bytes.length && position < 0.9 * bytes.length) await first.promise;
      return bytes.subarray(position, position + length);
    };
    const index: IndexVideo = (file) => indexer.index({ ...file, access: { sizeBytes: bytes.length }, read });
    let frames = 0;
    for await (const part of planVideo(pathToFileURL(path).href, {}, () => ({ aim: 12, most: 40 }), index)) {
      if (part.kind !== 'segment') continue;
      first.resolve();
      frames += part.segment.frames.length;
    }
    assert.equal(frames, 960);
  });
}
