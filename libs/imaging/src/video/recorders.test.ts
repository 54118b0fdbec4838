// What recorders leave: files that still grow, that were cut off, that have no index.
import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { planVideo, type VideoSegment } from './plan-video.ts';
import { decodeInOneProcess, decodeInSegments } from './testing/segments.ts';
import { makeVideo, noFfmpeg, runFfmpeg, videoKinds } from './testing/videos.ts';
import { openVideoFile } from './video-file.ts';

const skip = noFfmpeg;
const folder = mkdtempSync(join(tmpdir(), 'halogrid-recorders-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const length = { aim: 12, most: 40 };
const uriOf = (path: string): string => pathToFileURL(path).href;

function made(kind: string, name = kind, frames = 48): string {
  const path = join(folder, name);
  makeVideo(path, videoKinds[kind]!, frames);
  return path;
}

const decode = (path: string) => decodeInSegments(uriOf(path), length, { decode: decodeInOneProcess });

for (const kind of ['h264-open.ts', 'hevc.mkv', 'mjpeg.avi']) {
  test(`a growing ${kind} is decoded as far as it went when it was planned`, { skip }, async () => {
    const bytes = readFileSync(made(kind, `whole-${kind}`));
    const path = join(folder, `growing-${kind}`);
    const there = Math.floor(bytes.length * 0.6);
    writeFileSync(path, bytes.subarray(0, there));
    const planned = await decode(path);
    // Between the plan and the decoder, the recorder goes on.
    const grown = await decodeInSegments(uriOf(path), length, {
      decode: (uri, segments) => {
        appendFileSync(path, bytes.subarray(there));
        return decodeInOneProcess(uri, segments);
      },
    });
    assert.ok(planned.frames.size > 10);
    assert.deepEqual(grown, planned);
  });
}

test('a recording that was replaced by another is not decoded as the planned one', { skip }, async () => {
  const path = made('mpeg4.ts', 'replaced.ts');
  const [segment] = (await Array.fromAsync(planVideo(uriOf(path), {}, () => length))).flatMap((part) =>
    part.kind === 'segment' ? [part.segment] : [],
  ) as VideoSegment[];
  const { version } = segment!;
  assert.equal((await openVideoFile(uriOf(path), version)).version, version);
  makeVideo(path, videoKinds['h264-open.ts']!, 200);
  assert.notEqual((await openVideoFile(uriOf(path), version)).version, version);
  const file = await openVideoFile(uriOf(path));
  writeFileSync(path, readFileSync(path).subarray(0, 10_000));
  await assert.rejects(file.checkVersion(), { message: /^The video has changed since the job was planned/ });
});

test('an MP4 whose recorder was cut off before it wrote the index says so', { skip }, async () => {
  const path = made('h264.mp4');
  const bytes = readFileSync(path);
  writeFileSync(path, bytes.subarray(0, bytes.lastIndexOf('moov') - 4));
  await assert.rejects(decode(path), {
    name: 'InputError',
    stage: 'decode',
    message:
      'The file has no index (moov), which tells where its frames are: its recorder was cut off, or is still at work',
  });
});

test('a file without an index has the frames of one that has it', { skip }, async () => {
  const avi = made('mjpeg.avi');
  const bytes = readFileSync(avi);
  const cut = join(folder, 'without-index.avi');
  writeFileSync(cut, bytes.subarray(0, bytes.lastIndexOf('idx1')));
  const mkv = made('hevc.mkv');
  const live = join(folder, 'without-cues.mkv');
  runFfmpeg(['-i', mkv, '-c', 'copy', '-live', '1', '-f', 'matroska', live]);
  for (const [path, whole] of [
    [cut, avi],
    [live, mkv],
  ] as const) {
    const found = await decode(path);
    assert.equal(found.frames.size, 48);
    assert.deepEqual([found.frames, found.bad], [(await decode(whole)).frames, new Map()]);
  }
});
