// Transport streams as recorders, discs and broadcasts leave them: cut anywhere, after other bytes, or with longer
// packets.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { isThorough } from '@halogrid/testing';
import { isVideoFile } from './is-video-file.ts';
import { type Decoded, decodeInOneProcess, decodeInSegments, indexOnce } from './testing/segments.ts';
import { grayByFfmpeg, height, makeVideo, noFfmpeg, videoKinds, width } from './testing/videos.ts';

const skip = noFfmpeg;
const folder = mkdtempSync(join(tmpdir(), 'halogrid-transport-streams-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const kinds = ['h264-open.ts', 'hevc-open.ts', 'mpeg4.ts'];
/** Each as it is, and what ffmpeg and ffprobe make of it. */
const streams = new Map<string, { stream: Buffer; gray: Buffer; times: number[] }>();
before(() => {
  for (const kind of skip ? [] : kinds) {
    const path = join(folder, kind);
    makeVideo(path, videoKinds[kind]!);
    streams.set(kind, { stream: readFileSync(path), gray: grayByFfmpeg(path), times: timesByFfprobe(path) });
  }
});

/** The packets of a stream, each with other bytes before and after it. */
function repacked(stream: Buffer, before: number, behind: number): Buffer {
  return Buffer.concat(
    Array.from({ length: stream.length / 188 }, (_, i) => [
      Buffer.alloc(before, i),
      stream.subarray(188 * i, 188 * (i + 1)),
      Buffer.alloc(behind, 255 - (i % 256)),
    ]).flat(),
  );
}

/** Bytes without successive packets. */
const junk = (length: number): Buffer => Buffer.from(Array.from({ length }, (_, i) => (i * 7 + (i >> 5)) % 251));

const forms: [what: string, make: (stream: Buffer) => Buffer][] = [
  ['one byte before it', (stream) => Buffer.concat([Buffer.alloc(1), stream])],
  ['the text of a log before it', (stream) => Buffer.concat([Buffer.from('\0garbage'.repeat(20)), stream])],
  ['as many bytes before it as a packet has, and half', (stream) => Buffer.concat([junk(282), stream])],
  ['thousands of bytes before it', (stream) => Buffer.concat([junk(20_001), stream])],
  ['its first bytes gone', (stream) => stream.subarray(1)],
  ['packets of 204 bytes', (stream) => repacked(stream, 0, 16)],
  ['packets of 204 bytes, the first of them cut', (stream) => repacked(stream, 0, 16).subarray(150)],
  ['packets of 204 bytes behind others', (stream) => Buffer.concat([junk(1000), repacked(stream, 0, 16)])],
  ['packets of 192 bytes', (stream) => repacked(stream, 4, 0)],
  ['packets of 192 bytes, the first of them cut', (stream) => repacked(stream, 4, 0).subarray(190)],
];

/** The times from ffprobe, in milliseconds from the first. */
function timesByFfprobe(path: string): number[] {
  const show = ['-select_streams', 'v:0', '-show_entries', 'frame=best_effort_timestamp_time', '-of', 'csv=p=0'];
  const lines = execFileSync('ffprobe', ['-v', 'quiet', ...show, path], { encoding: 'utf8' });
  const seconds = lines.match(/^[\d.]+/gm)!.map(Number);
  return seconds.map((time) => Math.round((time - seconds[0]!) * 1000));
}

/** All frames of a file, which are the same however it is cut into segments. */
async function sameFrames(path: string): Promise<Decoded> {
  const uri = pathToFileURL(path).href;
  assert.ok(await isVideoFile(uri));
  const index = await indexOnce(uri);
  const decoded: Decoded[] = [];
  for (const aim of [1000, 4]) {
    decoded.push(await decodeInSegments(uri, { aim, most: 1000 }, { index, decode: decodeInOneProcess }));
  }
  const [whole, ...cut] = decoded;
  for (const other of cut) {
    assert.ok(other.segments > 1);
    assert.deepEqual({ ...other, segments: 1 }, whole);
  }
  return whole!;
}

const numbersOf = (frames: ReadonlyMap<number, unknown>): number[] => [...frames.keys()].sort((a, b) => a - b);

for (const kind of kinds) {
  for (const [what, make] of kind !== 'mpeg4.ts' || isThorough ? forms : []) {
    test(`${kind} with ${what} is what ffmpeg reads of the stream, however it is cut`, { skip }, async () => {
      const path = join(folder, 'odd.ts');
      const { stream, gray, times: expectedTimes } = streams.get(kind)!;
      writeFileSync(path, make(stream));
      const { frames, bad, times } = await sameFrames(path);
      assert.deepEqual(bad, new Map());
      assert.equal(gray.length, frames.size * width * height);
      assert.deepEqual(
        numbersOf(frames),
        Array.from(frames, (_, i) => i),
      );
      for (const [frame, luma] of frames) {
        const expected = gray.subarray(frame * luma.length, (frame + 1) * luma.length);
        assert.ok(Buffer.compare(luma, expected) === 0, `frame ${frame} differs`);
      }
      const milliseconds = numbersOf(times).map((frame) => Math.round(times.get(frame)!));
      assert.deepEqual(milliseconds, expectedTimes);
    });
  }

  test(`${kind} without its first part has the frames of the whole from the next key frame on`, { skip }, async () => {
    const { stream, gray } = streams.get(kind)!;
    const path = join(folder, 'rest.ts');
    for (const gone of [0.04, 0.05, 0.3, 0.5]) {
      writeFileSync(path, stream.subarray(Math.floor(stream.length * gone)));
      const { frames, bad, times } = await sameFrames(path);
      const total = frames.size + bad.size;
      assert.ok(total > 12 && total <= 48 && bad.size < 15, `${bad.size} of ${total}`);
      assert.deepEqual(numbersOf(frames), numbersOf(times).slice(bad.size));
      for (const [frame, luma] of frames) {
        const before = gray.length - (total - frame) * luma.length;
        const expected = gray.subarray(before, before + luma.length);
        assert.ok(Buffer.compare(luma, expected) === 0, `frame ${frame} differs`);
      }
    }
  });
}

test('a file that only looks like a transport stream is not one', async () => {
  const path = join(folder, 'other');
  const flat = Buffer.alloc(20_000, 0x47);
  const striped = Buffer.from(Array.from({ length: 20_000 }, (_, i) => (i % 188 ? 0x10 : 0x47)));
  for (const bytes of [flat, junk(20_000), Buffer.concat([Buffer.from('P5 188 106 255\n'), striped])]) {
    writeFileSync(path, bytes);
    assert.equal(await isVideoFile(pathToFileURL(path).href), false);
  }
});
