import assert from 'node:assert/strict';
import { test } from 'node:test';
import { repeated } from '@halogrid/testing';
import fc from 'fast-check';
import { kernelNames } from '../catalogue.ts';
import { borderModes } from '../kernel/border.ts';
import { createPipeline, pipelineOver } from '../pipeline/pipeline.ts';
import { runReference } from '../reference.ts';
import { samplesOf, staged } from '../testing/index.ts';
import { readGray, readOracle, sha256 } from '../testing/oracle.ts';
import { borders, conv, glcm, lbp, ldp, open, pipeline } from './index.ts';
import { operationsArbitrary, pictureArbitrary } from './testing/arbitrary.ts';
import type { Picture } from './types.ts';

const wasm = await open({ on: 'wasm' });
const reference = await open({ on: 'reference' });

test('pictures of any layout, kernels, borders and grids give the same as their planes, on WebAssembly and on the reference', async () => {
  const grids = fc.record({ rows: fc.integer({ min: 1, max: 3 }), columns: fc.integer({ min: 1, max: 3 }) });
  await fc.assert(
    fc.asyncProperty(
      pictureArbitrary(),
      operationsArbitrary,
      grids,
      async (picture, { texts, border, asked }, anyGrid) => {
        const grid = createPipeline(asked).bins > 0 ? anyGrid : undefined;
        const run = pipeline(texts, { border });
        const found = await run(picture, { device: wasm, grid });
        assert.deepEqual(found, await run(picture, { device: reference, grid }));

        const over = pipelineOver(picture.data instanceof Uint16Array ? 'u16' : 'u8', createPipeline(asked));
        const planes = { width: picture.width, height: picture.height, pixels: planesOf(picture, over.input.length) };
        const { item, bytes } = staged(over, planes, undefined, grid);
        const expected = runReference(over, bytes, item, true);
        assert.deepEqual(found.map, samplesOf(over, expected, planes));
        assert.equal(found.counted, expected.counted);
        assert.deepEqual(found.histogram, expected.bins);
        assert.deepEqual(found.channels, over.output.channels);
        const withoutMap = await run(picture, { device: wasm, grid, map: false });
        assert.deepEqual(withoutMap, { ...found, map: undefined });
      },
    ),
    { numRuns: repeated(60) },
  );
});

/** Luma, or red, green and blue, computed by their definition. */
function planesOf({ data, width, height }: Picture, channels: number): Uint8Array | Uint16Array {
  const step = data.length / (width * height);
  const sample = (pixel: number, channel: number) => data[pixel * step + (step === 1 ? 0 : channel)]!;
  const luma = (pixel: number) => {
    const [red, green, blue] = [0, 1, 2].map((channel) => sample(pixel, channel));
    return Math.floor((19595 * red! + 38470 * green! + 7471 * blue! + 32768) / 65536);
  };
  const pixels = Array.from({ length: width * height }, (_, i) => i);
  const planes =
    channels === 1 ? pixels.map(luma) : [0, 1, 2].flatMap((channel) => pixels.map((i) => sample(i, channel)));
  return data instanceof Uint16Array ? Uint16Array.from(planes) : Uint8Array.from(planes);
}

test('parameters are the same as for --op', async () => {
  const picture: Picture = { data: Uint8Array.from({ length: 400 }, (_, i) => (i * 37) % 251), width: 20, height: 20 };
  const matrix = [
    [0, 1, 0],
    [1, -4, 1],
    [0, 1, 0],
  ];
  const pairs = [
    [
      lbp(picture, { points: 12, radius: 1.5, labels: 'uniform', border: 'wrap' }),
      ['lbp:points=12,radius=1.5,labels=uniform', 'wrap'],
    ],
    [ldp(picture, { order: 4, border: undefined }), ['ldp:order=4', undefined]],
    [
      glcm(picture, { levels: 8, offsets: '1@0+2@45', symmetric: true }),
      ['glcm:levels=8,offsets=1@0+2@45,symmetric=true', undefined],
    ],
    [conv(picture, { kernel: 'gaussian-5', sigma: 2, as: 'u8' }), ['conv:kernel=gaussian-5,sigma=2,as=u8', undefined]],
  ] as const;
  for (const [found, [text, border]] of pairs) {
    assert.deepEqual(await found, await pipeline([text], { border })(picture));
  }
  // log-3 has no name, and a matrix in the text of an operation may not have commas.
  const { map } = await conv(picture, { matrix, as: 'i16', border: 'mirror' });
  const at = (x: number, y: number) => picture.data[y * 20 + x]!;
  assert.equal(map[21], at(1, 0) + at(0, 1) + at(2, 1) + at(1, 2) - 4 * at(1, 1));
  assert.deepEqual(borders, borderModes);
  assert.deepEqual(kernelNames, ['lbp', 'ldp', 'conv', 'glcm']);
});

interface Expected {
  square_lbp: { bit_order: 'nw-cw-msb' | 'nw-cw-lsb'; border: 'zero'; map_sha256: string; histogram: number[] }[];
  ldp: { order: number; border: 'zero'; map_sha256: string; histograms: number[][] }[];
}

test('an image has the maps and histograms that other programs computed', async () => {
  const coins = readOracle<Expected>().find(({ name }) => name === 'coins.png')!;
  const { pixels: data, width, height } = await readGray(coins);
  for (const { bit_order: convention, border, ...expected } of coins.square_lbp) {
    const { map, histogram } = await lbp({ data, width, height }, { convention, border });
    assert.deepEqual([sha256(map), [...histogram]], [expected.map_sha256, expected.histogram]);
  }
  for (const { order, border, ...expected } of coins.ldp) {
    const { map, histogram } = await ldp({ data, width, height }, { order, border });
    assert.deepEqual([sha256(map), [...histogram]], [expected.map_sha256, expected.histograms.flat()]);
  }
});

test('a wrong value is refused in a sentence with the value and the allowed values', async () => {
  const data = new Uint8Array(12);
  const picture = { data, width: 4, height: 3 };
  // biome-ignore lint/suspicious/noExplicitAny: what no type allows.
  const any = (value: unknown): any => value;
  const refused: [act: () => unknown, sentence: RegExp][] = [
    [
      () => lbp({ data, width: 5, height: 3 }),
      /^Expected 15 \(gray\), 45 \(RGB\) or 60 \(RGBA\) samples for a picture of 5 x 3 pixels but received '12'$/,
    ],
    [() => lbp({ data, width: 0, height: 3 }), /^Expected pixels from 1 for the width of a picture but received '0'$/],
    [() => lbp({ data, width: 2.5, height: 3 }), /'2\.5'$/],
    [
      () => lbp(any({ data: [1, 2], width: 2, height: 1 })),
      /^Expected a Uint8Array, Uint8ClampedArray or Uint16Array for the data of a picture but received '\[1,2\]'$/,
    ],
    [
      () => lbp(any({ data, width: 2 ** 20, height: 2 ** 20 })),
      /^Expected at most 4294967295 pixels for a picture but received '1048576 x 1048576'$/,
    ],
    [() => lbp(picture, { radius: 17 }), /lbp:radius but received '17'$/],
    [
      () => lbp(picture, any({ size: 3 })),
      /^Expected one of convention, points, radius, labels, border, device, grid, map for an option but received 'size'$/,
    ],
    [() => ldp(picture, { border: any('edges') }), /^Expected one of zero, .* for border but received 'edges'$/],
    [() => lbp(picture, { grid: { rows: 0, columns: 1 } }), /grid but received '0x1'$/],
    [
      () => conv(picture, { kernel: 'gaussian-5' }),
      /^Expected at least 5 x 5 pixels for a picture but received '4 x 3'$/,
    ],
    [
      () => lbp(picture, { grid: any('4x6') }),
      /^Expected rows and columns, as { rows: 4, columns: 6 }, for the grid but received '4x6'$/,
    ],
    [
      () => pipeline(['lbp'])(picture, any({ grids: 1 })),
      /for an option but received 'grids' \(did you mean grid\?\)$/,
    ],
    [
      () => lbp(any(Buffer.of(1, 2))),
      /^Expected an ImageData or { data, width, height }, .* received 'Buffer of 2 bytes'$/,
    ],
    [
      () => lbp(any(undefined)),
      /^Expected an ImageData or { data, width, height } for a picture but received 'undefined'$/,
    ],
    [
      () => lbp(picture, any('radius=2')),
      /^Expected an object of convention, .* for the options but received 'radius=2'$/,
    ],
    [
      () => conv(picture, { kernel: 'gausian-5' }),
      / for conv:kernel but received 'gausian-5' \(did you mean gaussian-5\?\)$/,
    ],
    [
      () => pipeline(any('lbp')),
      /^Expected a list of texts, such as \['lbp:radius=2'\], for the pipeline but received 'lbp'$/,
    ],
    [
      () => pipeline(['lpb']),
      /^Expected one of lbp, ldp, conv, glcm for the kernel but received 'lpb' \(did you mean lbp\?\)$/,
    ],
    [() => lbp(picture, { device: any({}) }), /^Expected what open\(\) gives for device/],
    [() => pipeline(['blur']), /^Expected one of lbp, ldp, conv, glcm for the kernel but received 'blur'$/],
    [() => open({ on: any('gpu') }), /^Expected one of auto, webgpu, wasm, reference for on but received 'gpu'$/],
    [
      () => open({ on: 'wasm', gpu: {} as GPU }),
      /^Expected auto or webgpu with a gpu or a device for on but received 'wasm'$/,
    ],
  ];
  for (const [act, message] of refused) {
    await assert.rejects(async () => await act(), { name: 'ParameterError', message });
  }
});

test('a device that is closed computes nothing', async () => {
  const device = await open({ on: 'wasm' });
  device.close();
  const closed = lbp({ data: new Uint8Array(9), width: 3, height: 3 }, { device });
  await assert.rejects(closed, { message: 'The device is closed: open() gives another.' });
});
