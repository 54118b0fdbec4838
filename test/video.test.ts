// The whole system with videos: compares halogrid as a process with the results of the program ffmpeg for the same
// files.

import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import {
  coloursByFfmpeg,
  deepKinds,
  grayByFfmpeg,
  height,
  makeVideo,
  noFfmpeg,
  runFfmpeg,
  videoKinds,
  width,
} from '@halogrid/imaging/testing-videos';
import { isThorough } from '@halogrid/testing';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { Cluster, type ServingCluster } from './cluster.ts';
import { command } from './command.ts';
import { readErrors, readJson } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';
import { sharedCluster } from './shared-cluster.ts';

const scratch = scratchFolder();
const skip = noFfmpeg;
let cluster: ServingCluster;
/** The cluster of thorough runs, whose nodes become more. */
let growing: Cluster | undefined;

before(async () => {
  if (isThorough) growing = await Cluster.start();
  cluster = growing ?? (await sharedCluster());
});
after(() => cluster?.stop());

interface Row {
  source: string;
  name: string;
  frame: number;
  timestamp_ms: number | null;
  counted: bigint;
  histogram: number[];
}

async function rowsOf(out: string): Promise<Row[]> {
  return (await parquetReadObjects({ file: await asyncBufferFromFile(join(out, 'features.parquet')) })) as Row[];
}

/**
 * Runs to the end (on the cluster unless hardware is asked for), checks the exit code, and returns the output folder.
 */
async function run(name: string, args: readonly string[], code = 0): Promise<string> {
  const out = join(scratch, name);
  const words = ['run', ...args, '--out', out];
  const isAlone = args.includes('--hwaccel');
  const ended = await (isAlone ? command([...words, '--device', 'cpu']) : cluster.halogrid(words));
  assert.equal(ended.code, code, ended.stderr);
  return out;
}

function video(kind: string, name = kind): string {
  const path = join(scratch, name);
  makeVideo(path, videoKinds[kind]!);
  return path;
}

/** Writes the frames of a video as PGM with ffmpeg; returns their folder. */
function framesOf(path: string, name: string, options: readonly string[] = []): string {
  const folder = join(scratch, name);
  mkdirSync(folder);
  runFfmpeg(['-i', path, '-vsync', 'passthrough', ...options, '-pix_fmt', 'gray', join(folder, '%06d.pgm')]);
  return folder;
}

test('a video and the folder of its frames give the same histograms, with any number of nodes and segments', {
  skip,
}, async () => {
  const path = video('h264-open.mkv');
  const folder = await run('of-frames', [framesOf(path, 'frames')]);
  const expected = (await rowsOf(folder)).map(({ histogram }) => histogram);
  assert.equal(expected.length, 48);
  const { digest } = readJson(folder, 'job.json');
  const cuts: [nodes: number, batch: string][] = [
    [1, '1'],
    [2, '20'],
  ];
  if (isThorough) cuts.push([5, '13']);
  for (const [nodes, batch] of cuts) {
    while (growing && growing.nodes.length < nodes) await growing.startNode(`n${growing.nodes.length + 1}`);
    const out = await run(`of-video-${batch}`, [path, '--batch', batch]);
    const rows = await rowsOf(out);
    assert.deepEqual(
      rows.map(({ histogram }) => histogram),
      expected,
    );
    assert.deepEqual(
      rows.map(({ frame }) => frame),
      Array.from({ length: 48 }, (_, i) => i),
    );
    assert.deepEqual(
      rows.map(({ timestamp_ms: ms }) => ms),
      Array.from({ length: 48 }, (_, i) => 40 * i),
    );
    const job = readJson(out, 'job.json');
    assert.equal(job.digest, digest);
    const [source, ...others] = job.sources;
    assert.deepEqual(others, []);
    assert.deepEqual(
      { ...source, uri: undefined, counted: undefined },
      {
        uri: undefined,
        name: 'h264-open-000000',
        frames: 48,
        width: 98,
        height: 66,
        pixels: 48 * 98 * 66,
        counted: undefined,
      },
    );
    // 20 frames, spread over the video, have previews of the map and of the frame itself, named as in their rows.
    const previews = readdirSync(join(out, 'preview')).filter((file) => file.endsWith('.png'));
    const shown = rows.filter(({ name }) => previews.includes(`${name}.png`));
    assert.deepEqual([previews.length, shown.length, readdirSync(join(out, 'preview')).length], [20, 20, 40]);
    const gaps = shown.slice(1).map(({ frame }, i) => frame - shown[i]!.frame);
    assert.ok(Math.max(...gaps) <= 4, String(gaps));
  }
});

test('a video of 10 bits and its frames as 16-bit PGM give the same histograms, with any number of segments', {
  skip,
}, async () => {
  const path = join(scratch, 'deep.mp4');
  makeVideo(path, deepKinds['hevc-10.mp4']!.encoder);
  const folder = join(scratch, 'deep-frames');
  mkdirSync(folder);
  const frameBytes = 2 * width * height;
  const bytes = grayByFfmpeg(path, 'gray10le').swap16();
  for (let i = 0; i < 48; i++) {
    const frame = bytes.subarray(i * frameBytes, (i + 1) * frameBytes);
    writeFileSync(join(folder, `${i}.pgm`), Buffer.concat([Buffer.from(`P5\n${width} ${height}\n1023\n`), frame]));
  }
  const outOfFrames = await run('of-deep-frames', [folder]);
  const expected = await rowsOf(outOfFrames);
  for (const batch of isThorough ? ['1', '20'] : ['20']) {
    const out = await run(`of-deep-video-${batch}`, [path, '--batch', batch]);
    assert.deepEqual(
      (await rowsOf(out)).map(({ histogram }) => histogram),
      expected.map(({ histogram }) => histogram),
    );
    assert.equal(readJson(out, 'job.json').digest, readJson(outOfFrames, 'job.json').digest);
  }
});

test('the colours of videos and of their frames as PPM and JPEG give the same histograms, with any number of segments', {
  skip,
}, async () => {
  const frames: string[] = [];
  const videos: string[] = [];
  for (const [name, colours] of [
    ['h264-open.mkv', coloursByFfmpeg],
    ['mjpeg.avi', undefined],
  ] as const) {
    const path = video(name);
    const folder = join(scratch, `${name}-colours`);
    mkdirSync(folder);
    if (colours) {
      const planes = colours(path);
      const [rgb, plane] = [Buffer.alloc(3 * width * height), width * height];
      for (let frame = 0; frame < 48; frame++) {
        const [green, blue, red] = [0, 1, 2].map((nth) => planes.subarray((3 * frame + nth) * plane));
        for (let i = 0; i < plane; i++) rgb.set([red![i]!, green![i]!, blue![i]!], 3 * i);
        writeFileSync(join(folder, `${frame}.ppm`), Buffer.concat([Buffer.from(`P6\n${width} ${height}\n255\n`), rgb]));
      }
    } else runFfmpeg(['-i', path, '-c', 'copy', '-f', 'image2', join(folder, '%d.jpg')]);
    frames.push(folder);
    videos.push(path);
  }
  const op = ['--op', 'conv:kernel=gaussian-5,as=u8,channels=rgb'];
  const outOfFrames = await run('of-colours', [...frames, ...op]);
  const outOfVideos = await run('of-colour-videos', [...videos, ...op, '--batch', '10']);
  assert.equal(readJson(outOfVideos, 'job.json').counts.frames, 2 * 48);
  assert.equal(readJson(outOfVideos, 'job.json').digest, readJson(outOfFrames, 'job.json').digest);
  assert.equal(readJson(outOfVideos, 'histogram.json').channels.length, 3);
});

test('--every, --from, --to and --fps choose frames by number and by time', { skip }, async () => {
  const path = video('h264.mp4');
  const frames = async (name: string, args: readonly string[]) =>
    (await rowsOf(await run(name, [path, ...args]))).map(({ frame }) => frame);
  assert.deepEqual(await frames('every', ['--every', '10']), [0, 10, 20, 30, 40]);
  // At 25 frames a second, frame n is at n * 40 ms.
  assert.deepEqual(await frames('between', ['--from', '0.9', '--to', '00:00:01.080']), [23, 24, 25, 26]);
  // Steps of 333.3 ms: the first frame at or after each.
  assert.deepEqual(await frames('rate', ['--fps', '3']), [0, 9, 17, 25, 34, 42]);
  // AVI states no times, only a constant rate.
  const avi = video('h264-without-times.avi');
  const rows = await rowsOf(await run('rate-of-avi', [avi, '--fps', '3', '--from', '0.3']));
  assert.deepEqual(
    rows.map(({ frame, timestamp_ms: ms }) => [frame, ms]),
    [9, 17, 25, 34, 42].map((frame) => [frame, 40 * frame]),
  );
});

test('a recording without a frame in the chosen time is left out, and no fault', { skip }, async () => {
  const [path, image] = [video('h264.mp4'), join(scratch, 'beside.pgm')];
  writeFileSync(image, Buffer.concat([Buffer.from('P5\n98 66\n255\n'), Buffer.alloc(98 * 66, 7)]));
  const runLate = (out: string, ...sources: string[]) =>
    command(['run', ...sources, '--from', '9', '--device', 'cpu', '--out', join(scratch, out)]);
  const { code, stderr } = await runLate('late', path, image);
  assert.equal(code, 0, stderr);
  const { notes, counts } = readJson(join(scratch, 'late'), 'job.json');
  assert.deepEqual(notes, ['1 video left out: no frames in the chosen time']);
  assert.deepEqual([counts.sources, counts.quarantined], [1, 0]);
  const alone = await runLate('late-alone', path);
  assert.equal(alone.code, 1);
  assert.match(alone.stderr, /No video has a frame in the chosen time/);
});

test('a video among other sources: damage is set aside by frame, a file that is not a video as a whole', {
  skip,
}, async () => {
  const folder = join(scratch, 'mixed');
  mkdirSync(folder);
  makeVideo(join(folder, 'whole.mp4'), videoKinds['mpeg4.mp4']!);
  const bytes = readFileSync(join(folder, 'whole.mp4'));
  for (let i = 0; i < 600; i++) bytes[Math.floor(bytes.length / 2) + i] = Math.imul(i + 1, 2654435761) >>> 24;
  writeFileSync(join(folder, 'damaged.mp4'), bytes);
  runFfmpeg(['-f', 'lavfi', '-i', 'sine=d=1', join(folder, 'sound.mp4')]);
  writeFileSync(join(folder, 'text.mkv'), 'no video at all');
  makeVideo(join(folder, 'colours.mkv'), ['-pix_fmt', 'gbrp', '-c:v', 'libx264rgb']);
  writeFileSync(join(folder, 'image.pgm'), Buffer.concat([Buffer.from('P5\n98 66\n255\n'), Buffer.alloc(98 * 66, 7)]));
  const out = await run('of-mixed', [folder], 3);
  const rows = await rowsOf(out);
  const errors = readErrors(out);
  const of = (name: string) => (item: { uri?: string; source?: string }) => (item.uri ?? item.source)!.endsWith(name);
  assert.equal(rows.filter(of('whole.mp4')).length, 48);
  assert.equal(rows.filter(of('image.pgm')).length, 1);
  const bad = errors.filter(of('damaged.mp4'));
  assert.ok(bad.length > 0);
  assert.equal(rows.filter(of('damaged.mp4')).length + bad.length, 48);
  assert.equal(new Set(bad.map(({ frame }) => frame)).size, bad.length);
  assert.deepEqual(
    errors.filter((error) => !bad.includes(error)).map(({ uri, error }) => [uri.split('/').at(-1), error]),
    [
      ['colours.mkv', 'Video in the pixel format gbrp is not supported: it has no luma of 8 to 14 bits'],
      ['sound.mp4', 'The file has no video: it has sound or other streams only'],
      ['text.mkv', 'Not an image: the file starts with the text "no video at all"'],
    ],
  );
});

test('plan counts the frames and segments of videos', { skip }, async () => {
  const path = video('h264.mp4', 'planned.mp4');
  const ended = await command(['plan', path, '--batch', '12', '--json']);
  assert.equal(ended.code, 0, ended.stderr);
  const plan = JSON.parse(ended.stdout);
  assert.deepEqual([plan.videoFrames, plan.segments, plan.pixels], [48, 4, 48 * 98 * 66]);

  const deep = join(scratch, 'planned-deep.mp4');
  makeVideo(deep, deepKinds['hevc-10.mp4']!.encoder);
  const ofDeep = await command(['plan', deep, '--batch', '12', '--json']);
  assert.equal(ofDeep.code, 0, ofDeep.stderr);
  const planOfDeep = JSON.parse(ofDeep.stdout);
  assert.equal(planOfDeep.pixels, plan.pixels);
  // One more byte per pixel, and rows aligned to whole words. How many frames need a preview at a time depends on the
  // file's path.
  const more = planOfDeep.nodeMemoryBytes - plan.nodeMemoryBytes;
  assert.ok(more >= plan.pixels * 0.7 && more < plan.pixels * 1.5, `${more} bytes for ${plan.pixels} pixels`);
});

test('the recording among the samples is small, and the part that README.md uses has two segments', async () => {
  const path = fileURLToPath(new URL('../samples/videos/cam1.mp4', import.meta.url));
  assert.ok(statSync(path).size < 300_000);
  // Every second frame of four seconds at 10 frames a second.
  const ended = await command(['plan', path, ...'--from 2 --to 6 --every 2 --batch 10 --json'.split(' ')]);
  assert.equal(ended.code, 0, ended.stderr);
  const { videoFrames, segments, pixels } = JSON.parse(ended.stdout);
  assert.deepEqual([videoFrames, segments, pixels], [20, 2, 20 * 480 * 270]);
});

test('impossible options are reported before anything is read', async () => {
  const image = join(scratch, 'a.pgm');
  writeFileSync(image, Buffer.concat([Buffer.from('P5\n8 8\n255\n'), Buffer.alloc(64)]));
  const clip = join(scratch, 'clip.mp4');
  writeFileSync(clip, 'nothing');
  const images = join(scratch, 'images');
  mkdirSync(images);
  copyFileSync(image, join(images, 'a.pgm'));
  for (const [args, sentence] of [
    [
      [image, '--every', '2'],
      /Expected a video among the sources, because --every is for videos, but received images alone/,
    ],
    [[images, join(images, '*.pgm'), '--fps', '5'], /because --fps is for videos, but received images alone/],
    [[images, '--to', '5'], /because --to is for videos, but received images alone/],
    [[clip, '--every', '0'], /Expected a whole number from 1 to 999999999 for --every but received '0'/],
    [[clip, '--from', '1:75'], /Expected seconds such as 90\.5, or HH:MM:SS\.mmm .* for --from but received '1:75'/],
    [[clip, '--from', '9', '--to', '8'], /Expected a time after that of --from \(9 s\) for --to but received 8 s/],
    [[clip, '--fps', '0'], /Expected frames a second, such as 5, 0\.5 or 30000\/1001, for --fps but received '0'/],
    [[clip, '--fps', '5', '--every', '2'], /Expected --every or --fps but received both/],
    [[clip, '--hwaccel', 'magic'], /Expected one of auto, cuda, vaapi, vdpau, qsv, vulkan, drm, none for --hwaccel/],
  ] as const) {
    const ended = await cluster.halogrid(['run', ...args, '--out', join(scratch, 'nothing')]);
    assert.equal(ended.code, 2, `${args}: ${ended.stderr}`);
    assert.match(ended.stderr, sentence);
  }
});

test('missing hardware is reported, and the video is decoded without it', { skip }, async () => {
  const path = video('h264.mp4', 'without-hardware.mp4');
  const out = await run('without-hardware', [path, '--hwaccel', 'vdpau', '--every', '16']);
  assert.equal((await rowsOf(out)).length, 3);
});
