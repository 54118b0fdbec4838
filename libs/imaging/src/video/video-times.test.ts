// When frames are shown, compared with what the program ffprobe says of the same files.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { FrameChoice } from './choose-frames.ts';
import { type IndexVideo, VideoIndexer } from './index-video.ts';
import { type PlannedFrame, planVideo } from './plan-video.ts';
import { noFfmpeg, runFfmpeg } from './testing/videos.ts';

const folder = mkdtempSync(join(tmpdir(), 'halogrid-video-times-'));
const indexer = new VideoIndexer(1);
after(async () => {
  await indexer.close();
  rmSync(folder, { recursive: true, force: true });
});
const skip = noFfmpeg;

const h264 = ['-c:v', 'libx264', '-g', '12', '-bf'];
const mpeg4 = ['-c:v', 'mpeg4', '-g', '12', '-bf'];
/** Frames that the encoder does not get: AVI has empty chunks in their places, other containers later times. */
const dropping = ['-vf', "select='not(between(n,5,9)+between(n,30,31)+eq(n,1))'", '-vsync', 'vfr'];

const kinds: [name: string, encoder: string[]][] = [
  ['mpeg4.avi', [...mpeg4, '0']],
  ['mpeg4-b.avi', [...mpeg4, '2']],
  ['mpeg4-b-dropped.avi', [...dropping, ...mpeg4, '2']],
  ['mpeg4-ntsc.avi', ['-r', '30000/1001', ...mpeg4, '0']],
  ['mjpeg-dropped.avi', [...dropping, '-c:v', 'mjpeg']],
  ['h264.avi', [...h264, '0']],
  ['h264-b.avi', [...h264, '3']],
  ['h264-b-dropped.avi', [...dropping, ...h264, '3']],
  ['h264-b-dropped.mp4', [...dropping, ...h264, '3']],
  ['h264-b-dropped.mkv', [...dropping, ...h264, '3']],
  ['h264-b-dropped.ts', [...dropping, ...h264, '3']],
];

/** Writes videos with these encoders into files with these names. */
function make(...videos: readonly (readonly [name: string, encoder: readonly string[]])[]): void {
  // `-vsync` is of the program, and not of one of its outputs.
  for (const some of [
    videos.filter(([, [first]]) => first === '-vf'),
    videos.filter(([, [first]]) => first !== '-vf'),
  ]) {
    const outputs = some.flatMap(([name, encoder]) => {
      return ['-frames:v', '40', '-pix_fmt', 'yuv420p', ...encoder, join(folder, name)];
    });
    if (some.length > 0) runFfmpeg(['-f', 'lavfi', '-i', 'testsrc2=s=98x66:r=25', ...outputs]);
  }
}
const pathOf = (name: string): string => join(folder, name);
before(() => {
  if (!skip) make(...kinds);
});

const index: IndexVideo = (file) => indexer.index(file);
async function framesOf(path: string, choice: FrameChoice = {}): Promise<PlannedFrame[]> {
  const parts = await Array.fromAsync(
    planVideo(pathToFileURL(path).href, choice, () => ({ aim: 10, most: 100 }), index),
  );
  return parts.flatMap((part) => (part.kind === 'segment' ? part.segment.frames : []));
}

/** Milliseconds from the first frame; NaN if ffprobe does not say, as for the last frames that a decoder held back. */
function timesByFfprobe(path: string): number[] {
  const show = ['-select_streams', 'v:0', '-show_entries', 'frame=best_effort_timestamp_time', '-of', 'json'];
  const { frames } = JSON.parse(execFileSync('ffprobe', ['-v', 'error', ...show, path], { encoding: 'utf8' }));
  const seconds = frames.map((frame: Record<string, string>) => Number(frame.best_effort_timestamp_time));
  return seconds.map((time: number) => (time - seconds[0]) * 1000);
}

for (const [name] of kinds) {
  test(`frames of ${name} have the times that ffprobe gives them`, { skip }, async () => {
    const path = pathOf(name);
    const frames = await framesOf(path);
    const expected = timesByFfprobe(path);
    assert.equal(frames.length, expected.length);
    const untold = expected.findIndex(Number.isNaN);
    assert.ok(untold < 0 || untold >= expected.length - 3, `ffprobe tells the times of ${untold}`);
    const rate = name.includes('ntsc') ? 30_000 / 1001 : 25;
    let last = 0;
    for (const [i, { timestampMs }] of frames.entries()) {
      // ffprobe prints whole microseconds.
      const time = Number.isNaN(expected[i]) ? last + 1000 / rate : expected[i]!;
      assert.ok(Math.abs(timestampMs! - time) < 0.002, `frame ${i} is at ${timestampMs}, not ${time} ms`);
      last = time;
    }
  });
}

test('--from, --to and --fps choose the same frames of an AVI without times as of the MP4 that states them', {
  skip,
}, async () => {
  const [avi, mp4] = ['h264-b-dropped.avi', 'h264-b-dropped.mp4'].map(pathOf);
  for (const choice of [{ fromMs: 400, toMs: 1300 }, { fps: { num: 3, den: 1 } }, { fromMs: 500, every: 3 }]) {
    const [ofAvi, ofMp4] = [await framesOf(avi!, choice), await framesOf(mp4!, choice)];
    const numbers = (frames: readonly PlannedFrame[]) => frames.map(({ frame }) => frame);
    assert.ok(ofMp4.length > 3 && ofMp4.length < 40);
    assert.deepEqual(numbers(ofAvi), numbers(ofMp4));
  }
});

test('a choice by times is refused if the file ends before frames that it may ask for', { skip }, async () => {
  const path = pathOf('cut-off.avi');
  make(['cut-off.avi', ['-c:v', 'mjpeg']]);
  const bytes = readFileSync(path);
  writeFileSync(path, bytes.subarray(0, Math.floor(bytes.length * 0.7)));
  assert.equal((await framesOf(path, { fromMs: 400, toMs: 480 })).length, 2);
  for (const choice of [{ fromMs: 400 }, { toMs: 1200 }, { fps: { num: 3, den: 1 } }]) {
    await assert.rejects(framesOf(path, choice), /^InputError: The file ends before its last frames \(\d+ or more\)/);
  }
});

/**
 * A transport stream whose packets of video state no times: the two bits that say so, and stuffing in place of the
 * times.
 */
function withoutTimes(path: string): void {
  const bytes = readFileSync(path);
  for (let at = 0; at < bytes.length; at += 188) {
    const isFirst = bytes[at + 1]! & 0x40;
    const hasExtra = bytes[at + 3]! & 0x20;
    const start = at + 4 + (hasExtra ? 1 + bytes[at + 4]! : 0);
    if (!isFirst || bytes.readUInt32BE(start) !== 0x1e0) continue;
    bytes[start + 7]! &= 0x3f;
    bytes.fill(0xff, start + 9, start + 9 + bytes[start + 8]!);
  }
  writeFileSync(path, bytes);
}

/** An AVI whose headers state no rate. */
function withoutRate(path: string): void {
  const bytes = readFileSync(path);
  bytes.fill(0, bytes.indexOf('avih') + 8, bytes.indexOf('avih') + 12);
  bytes.fill(0, bytes.indexOf('strh') + 28, bytes.indexOf('strh') + 36);
  writeFileSync(path, bytes);
}

test('frames of a Matroska that begins before its time 0 have the times that ffprobe gives them', {
  skip,
}, async () => {
  // How much of a group of nine frames lies before time 0: its first frame, a part, or all of it.
  for (const [begin, bFrames] of [
    [0.1, '0'],
    [0.3, '0'],
    [0.3, '2'],
    [0.5, '2'],
    [1, '2'],
  ] as const) {
    const path = join(folder, 'before-zero.mkv');
    const shifted = ['-vf', `setpts=(N*0.1-${begin})/TB`, '-vsync', 'passthrough', '-copyts'];
    const encoder = ['-c:v', 'libx264', '-threads', '1', '-g', '9', '-sc_threshold', '0', '-bf', bFrames];
    runFfmpeg([
      ...['-f', 'lavfi', '-i', 'testsrc2=s=98x66:r=10', '-frames:v', '30', ...shifted],
      ...[...encoder, '-pix_fmt', 'yuv420p', '-avoid_negative_ts', 'disabled', path],
    ]);
    const show = ['-select_streams', 'v:0', '-show_entries', 'frame=best_effort_timestamp', '-of', 'json', path];
    const { frames } = JSON.parse(execFileSync('ffprobe', ['-v', 'error', ...show], { encoding: 'utf8' }));
    const expected = frames.map((frame: Record<string, number>) => frame.best_effort_timestamp ?? null);
    const begun = expected.find((ms: number | null) => ms !== null);
    assert.ok(expected[0] === null && begun === 0);
    assert.deepEqual(
      (await framesOf(path)).map(({ timestampMs }) => timestampMs),
      expected,
      `${begin} ${bFrames}`,
    );
  }
});

for (const [name, strip] of [
  ['timeless.ts', withoutTimes],
  ['rateless.avi', withoutRate],
] as const) {
  test(`frames of ${name} have no times, and cannot be chosen by them`, { skip }, async () => {
    const path = pathOf(name);
    make([name, [...h264, '3']]);
    strip(path);
    assert.deepEqual(
      (await framesOf(path, { every: 20 })).map(({ frame, timestampMs }) => [frame, timestampMs]),
      [
        [0, null],
        [20, null],
      ],
    );
    for (const choice of [{ fromMs: 0 }, { toMs: 500 }, { fps: { num: 3, den: 1 } }]) {
      await assert.rejects(framesOf(path, choice), {
        name: 'InputError',
        message:
          /^Frames of the video have no times, which --from, --to and --fps go by; --every goes by their numbers$/,
      });
    }
  });
}
