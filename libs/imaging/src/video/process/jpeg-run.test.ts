// Recordings of MJPEG: every frame is the image that its JPEG is.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { PlaneTarget } from '../../planes/plane-target.ts';
import { jpegsOfVideo, pixelsOfJpeg } from '../testing/jpegs-of-video.ts';
import {
  type Decoded,
  decodeInOneProcess,
  decodeInProcesses,
  decodeInSegments,
  endProcesses,
} from '../testing/segments.ts';
import { makeVideo, makeVideos, noFfmpeg, runFfmpeg, videoKinds } from '../testing/videos.ts';

const skip = noFfmpeg;
const folder = mkdtempSync(join(tmpdir(), 'halogrid-mjpeg-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const decodeAll = (path: string, channels: PlaneTarget['channels'], aim = 1000): Promise<Decoded> => {
  const decode = aim < 1000 ? decodeInOneProcess : decodeInProcesses;
  return decodeInSegments(pathToFileURL(path).href, { aim, most: aim + 2 }, { decode, channels });
};

async function checkFrames(path: string, jpegs: readonly Buffer[], channels: PlaneTarget['channels']): Promise<void> {
  for (const aim of [3, 1000]) {
    const { frames, bad } = await decodeAll(path, channels, aim);
    assert.deepEqual(bad, new Map());
    assert.equal(frames.size, jpegs.length);
    for (const [frame, pixels] of frames)
      assert.ok((await pixelsOfJpeg(jpegs[frame]!, channels)).equals(pixels), `frame ${frame} in ${channels}`);
  }
}

/** A recording of these packets, each as it is. */
function recordingOf(name: string, packets: readonly Buffer[]): string {
  const frames = join(folder, `${name}-frames`);
  mkdirSync(frames);
  for (const [i, packet] of packets.entries()) writeFileSync(join(frames, `${i}.jpg`), packet);
  const path = join(folder, `${name}.avi`);
  runFfmpeg(['-f', 'image2', '-c:v', 'mjpeg', '-i', join(frames, '%d.jpg'), '-c', 'copy', path]);
  return path;
}

const somePictures = (name: string, encoder: readonly string[]): Buffer[] => {
  const path = join(folder, `${name}.mkv`);
  makeVideo(path, encoder, 8);
  return jpegsOfVideo(path);
};

const kinds = Object.keys(videoKinds).filter((kind) => kind.startsWith('mjpeg'));
before(() => {
  if (!skip) makeVideos(kinds.map((name) => ({ path: join(folder, name), encoder: videoKinds[name]! })));
});

for (const name of kinds) {
  test(`${name}: every frame is what its JPEG is as a file, in gray and in colour, however it is cut`, {
    skip,
  }, async () => {
    const path = join(folder, name);
    const jpegs = jpegsOfVideo(path);
    assert.equal(jpegs.length, 48);
    for (const channels of ['gray', 'rgb'] as const) await checkFrames(path, jpegs, channels);
  });
}

const tables = Buffer.from([0xff, 0xc4]);

/** A JPEG as capture cards write it: with another header, and without Huffman tables, so that the standard's apply. */
function asAvi1(jpeg: Buffer): Buffer {
  const header = Buffer.from('ffe0001041564931000000000000000000000000', 'hex').subarray(0, 18);
  let bytes = jpeg;
  for (let at = bytes.indexOf(tables); at >= 0; at = bytes.indexOf(tables))
    bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 2 + bytes.readUInt16BE(at + 2))]);
  return Buffer.concat([bytes.subarray(0, 2), header, bytes.subarray(2)]);
}

test('frames without Huffman tables are decoded with the tables of the standard', { skip }, async () => {
  const jpegs = somePictures('standard', ['-c:v', 'mjpeg', '-pix_fmt', 'yuvj422p', '-huffman', 'default']);
  const packets = jpegs.map(asAvi1);
  assert.ok(packets.every((packet) => packet.indexOf(tables) < 0));
  await checkFrames(recordingOf('avi1', packets), jpegs, 'gray');
});

test('a frame needs no end marker, and all of its pixels', { skip }, async () => {
  const jpegs = somePictures('ends', videoKinds['mjpeg.mkv']!);
  const packets = jpegs.map((jpeg, i) => jpeg.subarray(0, i === 3 ? jpeg.length - 40 : jpeg.length - 2));
  const { frames, bad } = await decodeAll(recordingOf('endless', packets), 'gray');
  assert.deepEqual(bad, new Map([[3, 'The JPEG is cut off: its end marker is missing']]));
  for (const [frame, pixels] of frames) assert.ok((await pixelsOfJpeg(jpegs[frame]!)).equals(pixels), `frame ${frame}`);
  assert.equal(frames.size, 7);
});

test('bytes that hold no pixel do not change a frame', { skip }, async () => {
  const jpegs = somePictures('whole', videoKinds['mjpeg.mkv']!);
  const packets = jpegs.map((jpeg, i) => {
    const table = jpeg.indexOf(Buffer.from([0xff, 0xdb]));
    const dirt = Buffer.alloc(i % 2 === 0 ? 600 : 0, 'not of the picture');
    return Buffer.concat([
      jpeg.subarray(0, table),
      dirt,
      jpeg.subarray(table, -2),
      Buffer.alloc(200 * i),
      jpeg.subarray(-2),
    ]);
  });
  for (const channels of ['gray', 'rgb'] as const)
    await checkFrames(recordingOf(`padded-${channels}`, packets), jpegs, channels);
});

test('pictures whose size changes keep theirs, and two fields in a packet are refused', { skip }, async () => {
  const small = somePictures('small', ['-s', '64x32', '-c:v', 'mjpeg', '-pix_fmt', 'yuvj420p']);
  const large = somePictures('large', ['-s', '64x64', '-c:v', 'mjpeg', '-pix_fmt', 'yuvj420p']);
  const packets = [large[0]!, small[1]!, Buffer.concat([small[2]!, small[3]!]), large[4]!];
  const { frames, bad } = await decodeAll(recordingOf('sizes', packets), 'gray');
  assert.deepEqual(bad, new Map([[2, 'MJPEG with two fields in a packet is not supported: one picture a packet is']]));
  assert.deepEqual(
    [...frames].map(([frame, { length }]) => [frame, length]),
    [
      [0, 64 * 64],
      [1, 64 * 32],
      [3, 64 * 64],
    ],
  );
});

test('a frame that claims too many pixels is refused before memory is taken for them', { skip }, async () => {
  const [first, ...jpegs] = somePictures('claims', videoKinds['mjpeg.mkv']!);
  const wide = Buffer.from(jpegs[0]!);
  const frameHeader = wide.indexOf(Buffer.from([0xff, 0xc0]));
  wide.writeUInt32BE(0xff00_ff00, frameHeader + 5);
  const { frames, bad } = await decodeAll(recordingOf('claiming', [first!, wide, jpegs[1]!]), 'rgb');
  assert.match(bad.get(1)!, /^65280x65280 is 4261478400 pixels, more than the 268435456/);
  assert.equal(frames.size, 2);
});

/** Has processes that start from now on find no package of libturbojpeg. */
function hideTurboJpeg(): void {
  const program = `
    import Module from 'node:module';
    const resolve = Module._resolveFilename;
    Module._resolveFilename = (name, ...rest) => resolve(name.startsWith('@julusian/') ? name + '-not-here' : name, ...rest);`;
  process.env.NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(program)}`;
}

test('without libturbojpeg a node says how to get it, and blames no video', { skip }, async (t) => {
  const path = join(folder, 'missing.mkv');
  makeVideo(path, videoKinds['mjpeg.mkv']!, 2);
  const options = process.env.NODE_OPTIONS;
  t.after(async () => {
    await endProcesses();
    if (options === undefined) delete process.env.NODE_OPTIONS;
    else process.env.NODE_OPTIONS = options;
  });
  await endProcesses();
  hideTurboJpeg();
  await assert.rejects(decodeAll(path, 'gray'), {
    name: 'MissingDecoderError',
    decodes: 'video',
    message: /^JPEGs cannot be read here: the package @julusian\/jpeg-turbo is not installed; 'npm install' gets it/,
  });
});
