import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { DecoderPool } from '../decoder-pool.ts';
import { planVideo, type SegmentLength } from '../plan-video.ts';
import {
  type Decoded,
  decodeInOneProcess,
  decodeInProcesses,
  decodeInSegments,
  indexOnce,
} from '../testing/segments.ts';
import {
  deepKinds,
  grayByFfmpeg,
  graysByFfmpeg,
  height,
  makeVideo,
  makeVideos,
  noFfmpeg,
  runFfmpeg,
  videoKinds,
  width,
} from '../testing/videos.ts';
import { openVideoFile } from '../video-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'halogrid-video-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const lengths: SegmentLength[] = [
  { aim: 3, most: 5 },
  { aim: 20, most: 1000 },
  { aim: 1000, most: 1000 },
];

/**
 * Outcomes for each of `lengths`, from one process: a process for every segment would take most of the time of these
 * tests. Tests of remote and of damaged videos show that separate processes do the same.
 */
async function decodeCut(path: string): Promise<Decoded[]> {
  const uri = pathToFileURL(path).href;
  const index = await indexOnce(uri);
  const decoded: Decoded[] = [];
  for (const length of lengths) {
    const decode = length.aim < 1000 ? decodeInOneProcess : decodeInProcesses;
    decoded.push(await decodeInSegments(uri, length, { decode, index }));
  }
  return decoded;
}

const kinds = [
  // Frames of MJPEG are what libjpeg makes of them.
  ...Object.entries(videoKinds)
    .filter(([name]) => !name.startsWith('mjpeg'))
    .map(([name, encoder]) => ({ name, encoder, gray: 'gray', frameBytes: width * height })),
  ...Object.entries(deepKinds).map(([name, kind]) => ({ name, ...kind, frameBytes: 2 * width * height })),
];
const pathOf = (name: string): string => join(folder, name);
let grays: Map<string, Buffer>;

before(() => {
  if (noFfmpeg) return;
  const mjpeg = { name: 'mjpeg.avi', encoder: videoKinds['mjpeg.avi']! };
  makeVideos([...kinds, mjpeg].map(({ name, encoder }) => ({ path: pathOf(name), encoder })));
  const decoded = graysByFfmpeg(kinds.map(({ name, gray }) => ({ path: pathOf(name), format: gray })));
  grays = new Map(kinds.map(({ name }, i) => [name, decoded[i]!]));
});

for (const { name, gray: format, frameBytes } of kinds) {
  test(`${name}: every frame is what ffmpeg -pix_fmt ${format} gives, however it is cut`, {
    skip: noFfmpeg,
  }, async () => {
    const expected = grays.get(name)!;
    assert.equal(expected.length, 48 * frameBytes);
    const segments: number[] = [];
    for (const [i, decoded] of (await decodeCut(pathOf(name))).entries()) {
      segments.push(decoded.segments);
      assert.deepEqual(decoded.bad, new Map());
      assert.equal(decoded.frames.size, 48);
      for (const [frame, gray] of decoded.frames) {
        const from = frame * frameBytes;
        assert.ok(
          expected.subarray(from, from + frameBytes).equals(gray),
          `frame ${frame} at ${JSON.stringify(lengths[i])}`,
        );
      }
    }
    assert.ok(segments[0]! > segments[1]! && segments[1]! > segments[2]!, `${segments} segments`);
  });
}

for (const name of ['hevc-open.mp4', 'hevc-open.ts']) {
  test(`${name}: packets of open groups are decoded once, but those that two segments need`, {
    skip: noFfmpeg,
  }, async () => {
    const uri = pathToFileURL(pathOf(name)).href;
    const index = await indexOnce(uri);
    const file = await openVideoFile(uri);
    const pool = new DecoderPool({ processes: 1 });
    try {
      const sizes: number[] = [];
      for await (const line of index(file))
        if (line.kind === 'packets') for (const { packet, size } of line.packets) sizes[packet] = size;
      let [decoded, shared, last] = [0, 0, 0];
      for await (const part of planVideo(uri, {}, () => ({ aim: 12, most: 1000 }), index)) {
        if (part.kind !== 'segment') continue;
        const { start, strictFrom, end, frames } = part.segment;
        const own = sizes.slice(start.packet, end).reduce((sum, size) => sum + size, 0);
        const decoder = await pool.decode(file, { start, strictFrom, end, wanted: frames, hwaccel: '' });
        let event = await decoder.next();
        for (; event.kind !== 'end'; event = await decoder.next()) assert.equal(event.kind, 'frame');
        assert.equal(event.inputBytes, own);
        decoded += end - start.packet;
        shared += Math.max(0, last - start.packet);
        last = end;
        await decoder.close();
      }
      assert.equal(decoded, 48 + shared);
      // The video has four groups of twelve. Two segments share the key frames of the groups behind the second, and the
      // frames that are shown before each.
      assert.ok(shared > 0 && shared <= 12 + 2 * 5, `${shared} packets are decoded twice`);
    } finally {
      await pool.close();
      file.close();
    }
  });
}

/**
 * The frames that are bad. All others must be as in the whole video at that time, whatever the cut. Frames are numbered
 * as the file holds them, so behind packets that are gone without a trace the numbers are lower.
 */
async function checkDamaged(name: string, whole: string): Promise<Map<number, string>> {
  const clean = await decodeInSegments(pathToFileURL(whole).href, lengths[2]!);
  const all = await decodeCut(join(folder, name));
  const cleanAt = new Map([...clean.times].map(([frame, time]) => [time, clean.frames.get(frame)!]));
  for (const { frames, bad, times } of all) {
    assert.deepEqual(
      [...bad].sort(([a], [b]) => a - b),
      [...all[0]!.bad].sort(([a], [b]) => a - b),
    );
    for (const [frame, gray] of frames)
      assert.ok(
        cleanAt.has(times.get(frame)!) && Buffer.compare(cleanAt.get(times.get(frame)!)!, gray) === 0,
        `${name}: frame ${frame}`,
      );
  }
  return all[0]!.bad;
}

test('damage in the middle sets aside the frames that may show it, and no others', { skip: noFfmpeg }, async () => {
  for (const [kind, at] of [
    ['h264-open.ts', 0.5],
    ['h264-open.mkv', 0.5],
    ['mpeg4.ts', 0.4],
    ['mjpeg.avi', 0.5],
  ] as const) {
    const whole = pathOf(kind);
    const bytes = readFileSync(whole);
    // The same bytes in every run; enough of them that a decoder notices.
    const from = Math.floor(bytes.length * at);
    for (let i = 0; i < 600; i++) bytes[from + i] = Math.imul(i + 1, 2654435761) >>> 24;
    writeFileSync(join(folder, `damaged-${kind}`), bytes);
    const bad = await checkDamaged(`damaged-${kind}`, whole);
    assert.ok(bad.size > 0 && bad.size < 40, `${kind}: ${bad.size} are bad`);
    for (const error of bad.values()) assert.match(error, /damaged/);
  }
});

test('every frame of a video that is cut off comes or is set aside', { skip: noFfmpeg }, async () => {
  const whole = join(folder, 'fast-whole.mp4');
  runFfmpeg(['-i', pathOf('h264.mp4'), '-c', 'copy', '-movflags', '+faststart', whole]);
  const bytes = readFileSync(whole);
  writeFileSync(join(folder, 'fast-cut.mp4'), bytes.subarray(0, Math.floor(bytes.length * 0.7)));
  const bad = await checkDamaged('fast-cut.mp4', whole);
  assert.ok(bad.size > 5 && bad.size < 30);
  assert.ok(bad.has(47));
  assert.ok([...bad.values()].includes('The file ends before this frame'));

  copyFileSync(pathOf('mjpeg.avi'), pathOf('cut.avi'));
  truncateSync(pathOf('cut.avi'), 60_000);
  const badOfAvi = await checkDamaged('cut.avi', pathOf('mjpeg.avi'));
  assert.ok(badOfAvi.has(47));
});

test('an edit list hides frames, which then are not numbered', { skip: noFfmpeg }, async () => {
  const path = join(folder, 'edited.mp4');
  // The copy begins inside a group of frames: the group's beginning is in the file for decoding, but is not shown.
  runFfmpeg(['-ss', '0.7', '-i', pathOf('h264.mp4'), '-c', 'copy', path]);
  const expected = grayByFfmpeg(path);
  for (const { frames, bad } of await decodeCut(path)) {
    assert.deepEqual(bad, new Map());
    assert.equal(frames.size * width * height, expected.length);
    const all = [...frames.keys()].sort((a, b) => a - b).map((frame) => frames.get(frame)!);
    assert.ok(Buffer.concat(all).equals(expected));
  }
});

test('a resolution that changes inside a file gives each frame its own size', { skip: noFfmpeg }, async () => {
  const sizes = ['64x48', '80x32'];
  const parts = sizes.map((_, i) => pathOf(`size-${i}.ts`));
  const encoder = ['-frames:v', '10', '-c:v', 'libx264', '-pix_fmt', 'yuv420p'];
  runFfmpeg([
    ...sizes.flatMap((size) => ['-f', 'lavfi', '-i', `testsrc2=s=${size}:r=25`]),
    ...parts.flatMap((part, i) => ['-map', String(i), ...encoder, part]),
  ]);
  const expected = graysByFfmpeg(parts.map((path) => ({ path, format: 'gray' })));
  const path = join(folder, 'sizes.ts');
  runFfmpeg(['-i', `concat:${parts.join('|')}`, '-c', 'copy', path]);
  for (const { frames } of await decodeCut(path)) {
    for (const [i, ofPart] of expected.entries()) {
      const bytes = ofPart.length / 10;
      for (let frame = 0; frame < 10; frame++) {
        const gray = frames.get(10 * i + frame);
        assert.ok(gray && ofPart.subarray(frame * bytes, (frame + 1) * bytes).equals(gray), `frame ${10 * i + frame}`);
      }
    }
  }
});

test('MPEG-4 with two frames in a packet is refused, with a way out', { skip: noFfmpeg }, async () => {
  const path = join(folder, 'packed.avi');
  makeVideo(path, ['-pix_fmt', 'yuv420p', '-c:v', 'libxvid', '-bf', '2', '-g', '12']);
  await assert.rejects(
    decodeInSegments(pathToFileURL(path).href, lengths[2]!),
    /two frames in a packet is not supported: ffmpeg .*mpeg4_unpack_bframes/,
  );
});
