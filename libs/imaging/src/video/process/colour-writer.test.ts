import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { repeated } from '@halogrid/testing';
import fc from 'fast-check';
import { decodeInOneProcess, decodeInProcesses, decodeInSegments } from '../testing/segments.ts';
import {
  allColoursByFfmpeg,
  deepKinds,
  height,
  makeVideo,
  makeVideos,
  noFfmpeg,
  videoKinds,
  width,
} from '../testing/videos.ts';
import { chromaFormat, matrixOf } from './colour-definition.ts';
import { ColourWriter } from './colour-writer.ts';
import { lumaFormat } from './video-gray.ts';

const folder = mkdtempSync(join(tmpdir(), 'halogrid-colour-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** The factors of docs/inputs.md, as numbers: for luma, and for chroma in red, green (U, V) and blue. */
const factors: Record<string, [luma: number, redV: number, greenU: number, greenV: number, blueU: number]> = {
  '6 limited': [9539, 13075, -3209, -6660, 16525],
  '6 full': [8192, 11485, -2819, -5850, 14516],
  '1 limited': [9539, 14686, -1747, -4366, 17305],
  '1 full': [8192, 12901, -1534, -3835, 15201],
  '4 limited': [9539, 13056, -3095, -6639, 16600],
  '4 full': [8192, 11469, -2719, -5831, 14582],
  '7 limited': [9539, 14697, -2113, -4445, 17029],
  '7 full': [8192, 12911, -1856, -3904, 14959],
  '9 limited': [9539, 13752, -1535, -5328, 17545],
  '9 full': [8192, 12080, -1348, -4680, 15412],
};

interface Drawn {
  name: string;
  space: number;
  isFull: boolean;
  width: number;
  height: number;
  gap: number;
  seed: number;
}

/** A plane of any samples, rows further apart than they are long. */
function planeOf(rowSamples: number, rows: number, gap: number, bits: number, shift: number, seed: number) {
  const stride = rowSamples + gap;
  const samples = Array.from({ length: stride * rows }, (_, i) => {
    const any = Math.imul(i + seed, 2654435761) >>> (32 - bits);
    // As often as not one of the extremes.
    return (any % 4 === 0 ? 0 : any % 4 === 1 ? 2 ** bits - 1 : any) << shift;
  });
  return { samples, stride };
}

function coloursOf(drawn: Drawn): {
  expected: number[][];
  written: ArrayLike<number>;
  toStride: number;
  toPlane: number;
} {
  const { name, space, isFull, gap, seed, width: wide, height: high } = drawn;
  const format = lumaFormat(name)!;
  const chroma = chromaFormat(name)!;
  const { bits, shift } = format;
  const [across, down] = [chroma.isHalfWide ? 2 : 1, chroma.isHalfHigh ? 2 : 1];
  const [chromaWidth, chromaHeight] = [Math.ceil(wide / across), Math.ceil(high / down)];
  const inPlane = chroma.isInPairs ? 2 : 1;
  const luma = planeOf(wide, high, gap, bits, shift, seed);
  const others = Array.from({ length: 3 - inPlane }, (_, i) =>
    planeOf(inPlane * chromaWidth, chromaHeight, 2 * gap, bits, shift, seed + 77 + i),
  );
  const at = (plane: 0 | 1, x: number, y: number): number => {
    const column = Math.min(Math.max(x, 0), chromaWidth - 1);
    const row = Math.min(Math.max(y, 0), chromaHeight - 1);
    const nth = chroma.isSwapped ? 1 - plane : plane;
    const { samples, stride } = others[chroma.isInPairs ? 0 : plane]!;
    return samples[row * stride + (chroma.isInPairs ? 2 * column + nth : column)]! >> shift;
  };
  /** Sixteen times the chroma in the middle of a sample of luma. */
  const chromaOf = (plane: 0 | 1, x: number, y: number): number => {
    const [cx, cy] = [Math.floor(x / across), Math.floor(y / down)];
    const nx = across === 1 ? cx : cx + (x % 2 === 0 ? -1 : 1);
    const ny = down === 1 ? cy : cy + (y % 2 === 0 ? -1 : 1);
    return 9 * at(plane, cx, cy) + 3 * at(plane, nx, cy) + 3 * at(plane, cx, ny) + at(plane, nx, ny);
  };
  const [ofLuma, redV, greenU, greenV, blueU] = factors[`${space} ${isFull ? 'full' : 'limited'}`]!;
  const black = isFull ? 0 : 2 ** (bits - 4);
  const colour = (sum: number) => Math.min(2 ** bits - 1, Math.max(0, Math.floor((sum + 65536) / 131072)));
  const expected: number[][] = [[], [], []];
  for (let y = 0; y < high; y++) {
    for (let x = 0; x < wide; x++) {
      const own = ofLuma * 16 * ((luma.samples[y * luma.stride + x]! >> shift) - black);
      const [u, v] = [chromaOf(0, x, y) - 2 ** (bits + 3), chromaOf(1, x, y) - 2 ** (bits + 3)];
      expected[0]!.push(colour(own + redV * v));
      expected[1]!.push(colour(own + greenU * u + greenV * v));
      expected[2]!.push(colour(own + blueU * u));
    }
  }
  const Samples = format.pixel === 'u8' ? Uint8Array : Uint16Array;
  const bytesOf = ({ samples, stride }: typeof luma) => {
    return { bytes: new Uint8Array(Samples.from(samples).buffer), stride: stride * Samples.BYTES_PER_ELEMENT };
  };
  const [toStride, toPlane] = [wide + gap, (wide + gap) * high + 5];
  const written = new Samples(3 * toPlane);
  const planes = { width: wide, height: high, ...bytesOf(luma), format, isFull, chroma, matrix: matrixOf(space)! };
  const to = new Uint8Array(written.buffer);
  const unit = Samples.BYTES_PER_ELEMENT;
  writer.write({ ...planes, chromaPlanes: others.map(bytesOf) }, to, toStride * unit, toPlane * unit);
  return { expected, written, toStride, toPlane };
}
const writer = new ColourWriter();

const formats = [
  ...['yuv420p', 'yuvj420p', 'yuv422p', 'yuv444p', 'nv12', 'nv21', 'nv16', 'nv24'],
  ...['yuv420p10le', 'yuv422p12le', 'yuv444p9le', 'yuv420p12le', 'p010le', 'p012le', 'p210le', 'p410le'],
];

test('pictures of any format and size have the colours that the definition gives', () => {
  const drawn = fc.record({
    name: fc.constantFrom(...formats),
    space: fc.constantFrom(1, 4, 6, 7, 9),
    isFull: fc.boolean(),
    width: fc.integer({ min: 1, max: 70 }),
    height: fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 1200 })),
    gap: fc.integer({ min: 0, max: 40 }),
    seed: fc.nat(2 ** 30),
  });
  fc.assert(
    fc.property(drawn, (one) => {
      const { expected, written, toStride, toPlane } = coloursOf(one);
      for (const [plane, values] of expected.entries()) {
        for (const [i, value] of values.entries()) {
          const at = plane * toPlane + Math.floor(i / one.width) * toStride + (i % one.width);
          if (written[at] !== value) return false;
        }
      }
      return true;
    }),
    { numRuns: repeated(30, 300) },
  );
});

test('formats whose chroma is not where it is known to be, or has more than 12 bits, have no colour', () => {
  for (const name of ['yuv420p14le', 'yuv440p', 'yuv411p', 'yuv410p', 'gbrp', 'rgb24', 'gray', ''])
    assert.equal(chromaFormat(name), undefined, name);
});

const tagged = (space: string) => ['-colorspace', space, '-color_primaries', 'bt709', '-color_trc', 'bt709'];

/** Encoders by name, and how FFmpeg calls planes of colour with as many bits. */
const kinds: Record<string, [format: string, bytes: number, encoder: string[]]> = {
  'h264-open.mkv': ['gbrp', 1, videoKinds['h264-open.mkv']!],
  'h264-full-range.mp4': ['gbrp', 1, videoKinds['h264-full-range.mp4']!],
  'h264-422.mp4': ['gbrp', 1, videoKinds['h264-422.mp4']!],
  'h264-444.mkv': ['gbrp', 1, videoKinds['h264-444.mkv']!],
  'h264-gray.mp4': ['gbrp', 1, videoKinds['h264-gray.mp4']!],
  'mpeg4.avi': ['gbrp', 1, videoKinds['mpeg4.avi']!],
  'av1.webm': ['gbrp', 1, videoKinds['av1.webm']!],
  'vp9-444.mp4': ['gbrp', 1, videoKinds['vp9-444.mp4']!],
  'h264-bt709.mp4': ['gbrp', 1, [...videoKinds['h264.mp4']!, ...tagged('bt709')]],
  'h264-bt2020.mp4': ['gbrp', 1, [...videoKinds['h264.mp4']!, ...tagged('bt2020nc')]],
  'h264-10-gray.mp4': ['gbrp10le', 2, deepKinds['h264-10-gray.mp4']!.encoder],
  'hevc-10.mp4': ['gbrp10le', 2, deepKinds['hevc-10.mp4']!.encoder],
  'hevc-12-422.mp4': ['gbrp12le', 2, deepKinds['hevc-12-422.mp4']!.encoder],
  'hevc-12-444-full.ts': ['gbrp12le', 2, deepKinds['hevc-12-444-full.ts']!.encoder],
};
const videos = Object.entries(kinds).map(([name, [format, , encoder]]) => ({
  path: join(folder, name),
  format,
  encoder,
}));
let colours: Map<string, Buffer>;

before(() => {
  if (noFfmpeg) return;
  makeVideos(videos, 24);
  const decoded = allColoursByFfmpeg(videos);
  colours = new Map(videos.map(({ path }, i) => [path, decoded[i]!]));
});

for (const [name, [, bytes]] of Object.entries(kinds)) {
  test(`${name}: the colours of every frame equal swscale's with accurate rounding`, {
    skip: noFfmpeg,
  }, async () => {
    const path = join(folder, name);
    const all = colours.get(path)!;
    const planeBytes = width * height * bytes;
    const frames = Array.from({ length: 24 }, (_, i) => {
      const [green, blue, red] = [0, 1, 2].map((plane) =>
        all.subarray((3 * i + plane) * planeBytes).subarray(0, planeBytes),
      );
      return Buffer.concat([red!, green!, blue!]);
    });
    for (const [aim, decode] of [
      [5, decodeInOneProcess],
      [1000, decodeInProcesses],
    ] as const) {
      const uri = pathToFileURL(path).href;
      const decoded = await decodeInSegments(uri, { aim, most: aim + 30 }, { decode, channels: 'rgb' });
      assert.deepEqual(decoded.bad, new Map());
      assert.equal(decoded.frames.size, 24);
      for (const [frame, colours] of decoded.frames) assert.ok(frames[frame]!.equals(colours), `frame ${frame}`);
    }
  });
}

test('colours that are defined by other matrices are refused, and their gray is not', { skip: noFfmpeg }, async () => {
  const path = join(folder, 'ycgco.mp4');
  makeVideo(path, [...videoKinds['h264.mp4']!, ...tagged('ycgco')], 3);
  const of = (channels: 'gray' | 'rgb') =>
    decodeInSegments(pathToFileURL(path).href, { aim: 9, most: 9 }, { decode: decodeInOneProcess, channels });
  assert.equal((await of('gray')).frames.size, 3);
  const { frames, bad } = await of('rgb');
  assert.equal(frames.size, 0);
  assert.match(
    bad.get(2)!,
    /^Colour of video in the colour space 8 .* is not supported: BT.601, BT.709 and BT.2020 are/,
  );
});
