import assert from 'node:assert/strict';
import test, { before } from 'node:test';
import type { Rect } from '@halogrid/geometry';
import {
  type AskedOperation,
  createPipeline,
  type ItemResult,
  type Pipeline,
  type PipelineItem,
  runReference,
} from '@halogrid/kernels';
import { runCpu } from '@halogrid/kernels/cpu';
import {
  countSamples,
  type MapSamples,
  noiseImage,
  samplesOf,
  staged,
  type TestImage,
  verifySamples,
} from '@halogrid/kernels/testing';
import type { NodeDevice } from './device.ts';
import { sharedDevice } from './testing/shared-device.ts';
import { runOne, type TestVariant, verifyAgainstReference } from './testing/verify-against-reference.ts';

let device: NodeDevice;
before(async () => {
  device = await sharedDevice();
});

const conv = (parameters: Record<string, string>, border: string): AskedOperation => {
  return { kernel: 'conv', parameters, border };
};

const matrixOf = (side: number, entry: (i: number, j: number) => number): string =>
  JSON.stringify(Array.from({ length: side }, (_, i) => Array.from({ length: side }, (_, j) => entry(i, j))));
/**
 * Integers without a pattern, from -9 to 9; fractions with many ties; any numbers; integers whose sums need 27 bits.
 */
const integers = (side: number) => matrixOf(side, (i, j) => ((i * 7 + j * 5 + i * j) % 19) - 9);
const ties = (side: number) => matrixOf(side, (i, j) => (((i * 3 + j * 7) % 9) - 4) / 8);
const reals = (side: number) => matrixOf(side, (i, j) => Math.sin(1 + i * 31 + j * j));
const large = (side: number) => matrixOf(side, (i, j) => ((i * 977 + j * 613 + i * j) % 30_001) - 15_000);

/**
 * Each path, side, border, type and number of channels. Not all combinations, because SwiftShader takes a second to
 * compile each.
 */
const variants: TestVariant[] = [
  { operations: [conv({ matrix: integers(3) }, 'zero')], withMap: true },
  { operations: [conv({ matrix: reals(5) }, 'mirror')], withMap: true },
  { operations: [conv({ matrix: integers(21), channels: 'rgb' }, 'reflect')], withMap: true },
  { operations: [conv({ matrix: large(5) }, 'replicate')], withMap: true },
  { operations: [conv({ matrix: ties(31), as: 'i16' }, 'wrap')], withMap: true },
  { operations: [conv({ matrix: integers(7), as: 'u8' }, 'interior')], withMap: true, grid: { rows: 2, columns: 3 } },
  { operations: [conv({ kernel: 'gaussian-5', as: 'u8', channels: 'rgb' }, 'replicate')], withMap: false },
  { operations: [conv({ kernel: 'sobel', as: 'u8' }, 'mirror')], withMap: false },
  { operations: [conv({ kernel: 'sobel' }, 'wrap')], withMap: true },
  { operations: [conv({ kernel: 'gaussian-31' }, 'reflect')], withMap: true },
  { operations: [conv({ kernel: 'box-21', channels: 'rgb' }, 'interior')], withMap: true },
  { operations: [conv({ kernel: 'gaussian-5', sigma: '2' }, 'wrap')], withMap: true },
  // Counted without a map: in fewer bins than a workgroup has, in more, and in part if the matrix leaves no room for
  // all.
  { operations: [conv({ kernel: 'box-7' }, 'zero')], withMap: false, grid: { rows: 2, columns: 3 } },
  { operations: [conv({ matrix: reals(5) }, 'interior')], withMap: false },
  { operations: [conv({ kernel: 'log-5', as: 'i16' }, 'replicate')], withMap: false },
  { operations: [conv({ matrix: integers(31), as: 'i16', channels: 'rgb' }, 'interior')], withMap: false },
  {
    operations: [
      conv({ kernel: 'gaussian-5', as: 'u8' }, 'zero'),
      { kernel: 'lbp', parameters: {}, border: 'interior' },
    ],
    withMap: true,
  },
];

test('batches of tiles of any size, place, border and kernel equal the reference', async () => {
  await verifyAgainstReference(device, variants, { gpu: 500, software: 110 });
});

type Run = (pipeline: Pipeline, bytes: Uint8Array, item: PipelineItem) => ItemResult | Promise<ItemResult>;

const onDevice: Run = (pipeline, bytes, item) => runOne(device, pipeline, bytes, item);
const onReference: Run = (pipeline, bytes, item) => runReference(pipeline, bytes, item, true);
const onCpu: Run = (pipeline, bytes, item) => runCpu(pipeline, bytes, item, true);

async function compute(run: Run, pipeline: Pipeline, image: TestImage, tile: Rect): Promise<MapSamples> {
  const { item, bytes } = staged(pipeline, image, tile);
  return samplesOf(pipeline, await run(pipeline, bytes, item), tile);
}

const wholeOf = ({ width, height }: TestImage): Rect => ({ x: 0, y: 0, width, height });

const size = { width: 301, height: 150 };
/** Four tiles that make up the image, cut within the pixels of a workgroup. */
const tiles = [
  { x: 0, y: 0, width: 77, height: 61 },
  { x: 77, y: 0, width: 224, height: 61 },
  { x: 0, y: 61, width: 200, height: 89 },
  { x: 200, y: 61, width: 101, height: 89 },
];

/** Checks that a tile's bands equal the whole image at the tile's place. */
function checkTile(part: MapSamples, tile: Rect, whole: MapSamples): void {
  for (let row = 0; row * tile.width < part.length; row++) {
    const band = Math.floor(row / tile.height);
    const at = (band * size.height + tile.y + (row % tile.height)) * size.width + tile.x;
    const from = row * tile.width;
    assert.deepEqual(part.subarray(from, from + tile.width), whole.subarray(at, at + tile.width));
  }
}

test('tiles together equal the whole image, bit for bit', async () => {
  const image = noiseImage(size, 11);
  for (const operation of [
    conv({ matrix: reals(5) }, 'mirror'),
    conv({ kernel: 'gaussian-31' }, 'reflect'),
    conv({ kernel: 'sobel' }, 'wrap'),
  ]) {
    const pipeline = createPipeline([operation]);
    const whole = await compute(onDevice, pipeline, image, wholeOf(image));
    verifySamples(whole, await compute(onReference, pipeline, image, wholeOf(image)), pipeline);
    for (const tile of tiles) checkTile(await compute(onDevice, pipeline, image, tile), tile, whole);
  }
});

test('a pipeline gives each tile what its kernels, run one after another, give on the whole image', async () => {
  const chains = [
    [conv({ kernel: 'gaussian-5', as: 'u8' }, 'zero'), { kernel: 'lbp', parameters: {}, border: 'interior' }],
    [
      conv({ kernel: 'gaussian-5', as: 'u8', channels: 'rgb' }, 'replicate'),
      conv({ kernel: 'prewitt', as: 'i16', channels: 'rgb' }, 'interior'),
    ],
  ];
  for (const chain of chains) {
    const pipeline = createPipeline(chain);
    const image = noiseImage(size, 12, 256, pipeline.input.length);
    let between = image;
    let whole: MapSamples | undefined;
    for (const operation of chain) {
      whole = await compute(onReference, createPipeline([operation]), between, wholeOf(image));
      between = { ...size, pixels: whole as Uint8Array };
    }
    for (const run of [onReference, onCpu, onDevice]) {
      for (const tile of [wholeOf(image), tiles[3]!])
        checkTile(await compute(run, pipeline, image, tile), tile, whole!);
    }
  }
});

test('results as f32 are counted as they are written', async () => {
  const image = noiseImage(size, 13);
  for (const operation of [
    conv({ matrix: reals(5) }, 'mirror'),
    conv({ kernel: 'gaussian-31' }, 'interior'),
    conv({ kernel: 'sobel' }, 'wrap'),
  ]) {
    const pipeline = createPipeline([operation]);
    const { item, bytes } = staged(pipeline, image);
    const result = await onDevice(pipeline, bytes, item);
    assert.deepEqual([...result.bins], countSamples(samplesOf(pipeline, result, size), result.counted, pipeline));
  }
});
