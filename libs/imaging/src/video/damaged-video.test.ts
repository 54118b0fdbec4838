// Damaged recordings: the result for each frame depends on the file alone, however it is cut.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { InputError } from '@halogrid/sources';
import { isThorough } from '@halogrid/testing';
import type { SegmentLength } from './plan-video.ts';
import { damaged, randomOf } from './testing/damage.ts';
import { jpegsOfVideo, pixelsOfJpeg } from './testing/jpegs-of-video.ts';
import { dahuaFile, hikvisionHeader, picturesOf, programStream } from './testing/recorder-files.ts';
import { decodeInSegments } from './testing/segments.ts';
import { makeVideo, noFfmpeg, runFfmpeg, videoKinds } from './testing/videos.ts';

const skip = noFfmpeg;
const folder = mkdtempSync(join(tmpdir(), 'halogrid-damaged-video-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const mjpegPath = join(folder, 'whole.avi');
before(() => {
  if (!skip) makeVideo(mjpegPath, videoKinds['mjpeg.avi']!);
});

interface Outcome {
  frames: [number, Buffer][];
  bad: [number, string][];
  times: [number, number | null][];
  refused?: string;
}

const sorted = <T>(of: ReadonlyMap<number, T>): [number, T][] => [...of].sort(([a], [b]) => a - b);

async function outcomeOf(path: string, length: SegmentLength): Promise<Outcome> {
  try {
    const { frames, bad, times } = await decodeInSegments(pathToFileURL(path).href, length);
    const grays = sorted(frames).map(([frame, gray]): [number, Buffer] => [frame, Buffer.from(gray)]);
    return { frames: grays, bad: sorted(bad), times: sorted(times) };
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return { frames: [], bad: [], times: [], refused: error.message };
  }
}

const whole = { aim: 1000, most: 1000 };
/** Ends inside of groups. */
const short = { aim: 3, most: 5 };

/** The outcome of a file's frames, which is the same for every length of segments. */
async function sameOutcome(path: string, lengths: readonly SegmentLength[]): Promise<Outcome> {
  const [first, ...others] = await Promise.all(lengths.map((length) => outcomeOf(path, length)));
  for (const [i, other] of others.entries())
    assert.deepEqual(other, first, `${path}: ${JSON.stringify(lengths[i + 1])}`);
  return first!;
}

/** One after another, each as the file that it is. */
const graysOf = (path: string): Promise<Buffer[]> => Promise.all(jpegsOfVideo(path).map((jpeg) => pixelsOfJpeg(jpeg)));

/** Where chunks with that name begin, in the part of an AVI file that holds frames and behind it. */
function chunksOf(bytes: Buffer, name: string): number[] {
  const found: number[] = [];
  for (let at = bytes.indexOf(name, bytes.indexOf('movi')); at >= 0; at = bytes.indexOf(name, at + 4)) found.push(at);
  return found;
}

test('a chunk of an AVI file that has lost its name costs one frame', { skip }, async () => {
  const bytes = readFileSync(mjpegPath);
  const index = bytes.indexOf('idx1');
  const chunks = chunksOf(bytes, '00dc').filter((at) => at < index);
  assert.equal(chunks.length, 48);
  bytes.fill(0, chunks[9]!, chunks[9]! + 8);
  const path = join(folder, 'nameless.avi');
  writeFileSync(path, bytes);
  const { frames, bad } = await sameOutcome(path, [{ aim: 6, most: 1000 }, whole]);
  assert.deepEqual(bad, []);
  const expected = (await graysOf(mjpegPath)).toSpliced(9, 1);
  assert.deepEqual(
    frames,
    expected.map((gray, i) => [i, gray]),
  );
});

test('wrong offsets in the index of an AVI file change nothing', { skip }, async () => {
  const bytes = readFileSync(mjpegPath);
  const random = randomOf(7);
  const index = bytes.indexOf('idx1');
  // An entry: name, flags, offset, size.
  for (let entry = index + 8; entry < index + 8 + bytes.readUInt32LE(index + 4); entry += 16) {
    if (random(3) === 0) bytes.writeUInt32LE(random(bytes.length), entry + 8);
  }
  const path = join(folder, 'wrong.avi');
  writeFileSync(path, bytes);
  const { frames, bad } = await sameOutcome(path, [{ aim: 6, most: 1000 }, whole]);
  assert.deepEqual(bad, []);
  assert.deepEqual(
    frames,
    (await graysOf(mjpegPath)).map((gray, i) => [i, gray]),
  );
});

test('of damaged MPEG-TS files in which the size changes, each frame has one size and content', { skip }, async () => {
  const sizes = ['64x48', '80x32', '64x48'];
  const encoder = ['-frames:v', '16', '-c:v', 'libx264', '-g', '5', '-bf', '2', '-pix_fmt', 'yuv420p'];
  const parts = sizes.map((size, i) => {
    const part = join(folder, `part-${i}.ts`);
    runFfmpeg(['-f', 'lavfi', '-i', `testsrc2=s=${size}:r=25`, ...encoder, part]);
    return part;
  });
  const path = join(folder, 'sizes.ts');
  runFfmpeg(['-i', `concat:${parts.join('|')}`, '-c', 'copy', path]);
  const bytes = readFileSync(path);
  // The last one hits the statement of the size: a decoder that has seen another size would go by that.
  for (const place of [0.4, 0.65, 0.675]) {
    const from = 188 * Math.floor((bytes.length * place) / 188) + 64;
    writeFileSync(path, Buffer.from(bytes).fill(255, from, from + 20));
    const { frames, bad } = await sameOutcome(path, [short, whole]);
    assert.ok(frames.length > 24 && frames.length + bad.length <= 48, `${frames.length} and ${bad.length}`);
  }
});

const small = 'testsrc2=s=64x48:r=25:d=1';
const sound = ['-f', 'lavfi', '-i', 'sine=d=1'];
const h264 = ['-c:v', 'libx264', '-pix_fmt', 'yuv420p', '-g', '6', '-bf', '2'];
const av1 = ['-c:v', 'libaom-av1', '-cpu-used', '8', '-g', '6'];
const mutated: Record<string, string[]> = {
  'a.avi': [...sound, '-c:v', 'mjpeg', '-pix_fmt', 'yuvj420p', '-c:a', 'mp2'],
  'b.mp4': [...sound, ...h264, '-c:a', 'aac'],
  'c.mkv': [...h264, '-x264-params', 'open-gop=1'],
  'd.ts': [...h264, '-x264-params', 'open-gop=1'],
  'e.avi': ['-c:v', 'mpeg4', '-g', '6', '-bf', '2'],
  'f.mp4': [...h264, '-movflags', 'frag_keyframe+empty_moov'],
  'g.ts': ['-c:v', 'libx264', '-pix_fmt', 'yuv420p', '-bf', '3', '-x264-params', 'intra-refresh=1:keyint=6'],
  'h.mkv': ['-c:v', 'libx265', '-pix_fmt', 'yuv420p', '-x265-params', 'log-level=none:open-gop=1:keyint=6'],
  'i.mp4': [...av1, '-pix_fmt', 'yuv420p'],
  'j.webm': ['-c:v', 'libvpx-vp9', '-deadline', 'realtime', '-cpu-used', '8', '-g', '6'],
  'k.webm': [...av1, '-aom-params', 'film-grain-test=1', '-pix_fmt', 'yuv420p'],
  'l.mpg': [...h264, '-f', 'vob'],
  'm.264': [...h264, '-f', 'h264'],
};

/** Made of pictures without sound. */
const recorded: Record<string, (pictures: readonly Buffer[]) => Buffer> = {
  'n.mp4': (pictures) => Buffer.concat([hikvisionHeader, programStream(pictures)]),
  'o.dav': (pictures) => dahuaFile(pictures, 64, 48),
};

const names = [...Object.keys(mutated), ...Object.keys(recorded)];
const undamaged = new Map<string, Buffer>();

/** One of these files before it is damaged. */
function undamagedFile(name: string): Buffer {
  const bytes = undamaged.get(name) ?? makeFile(name);
  undamaged.set(name, bytes);
  return bytes;
}

function makeFile(name: string): Buffer {
  const make = (name: string, options: readonly string[]): Buffer => {
    const path = join(folder, `whole-${name}`);
    runFfmpeg(['-f', 'lavfi', '-i', small, ...options, path]);
    return readFileSync(path);
  };
  const options = mutated[name];
  if (options) return make(name, options);
  return recorded[name]!(picturesOf(make('aud.264', [...h264, '-bf', '0', '-x264-params', 'aud=1'])));
}

/**
 * As many seeds as the environment says, each some tenths of a second; without it, one seed for each file, or for some
 * of them.
 */
const { HALOGRID_MUTANTS } = process.env;
const seeds = HALOGRID_MUTANTS
  ? Array.from({ length: Number(HALOGRID_MUTANTS) }, (_, i) => i)
  : [13, 9, 2, 0, 1, 3, 4, 5, 6, 7, 8, 10, 11, 12, 14].slice(0, isThorough ? 15 : 3);

test(`the outcome of ${seeds.length} damaged files does not depend on how they are cut`, { skip }, async () => {
  let withFrames = 0;
  for (const seed of seeds) {
    const name = names[seed % names.length]!;
    const path = join(folder, `mutant-${seed}-${name}`);
    writeFileSync(path, damaged(undamagedFile(name), seed));
    const { frames } = await sameOutcome(path, [short, whole]);
    if (frames.length > 0) withFrames++;
    rmSync(path);
  }
  assert.ok(withFrames > seeds.length / 3, `${withFrames} of them have frames that count`);
});
