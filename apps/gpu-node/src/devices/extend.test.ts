// Follows docs/extend.md: a kernel that no catalogue has runs through a pipeline on the reference and on a GPU.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test, { after, before } from 'node:test';
import type { PixelType, Size } from '@halogrid/geometry';
import { type AskedOperation, catalogue, type Pipeline, runReference } from '@halogrid/kernels';
import { runCpu } from '@halogrid/kernels/cpu';
import { rank, rankOnGpu, rankReference } from '@halogrid/kernels/example';
import {
  createPipelineOver,
  noiseFor,
  samplesOf,
  staged,
  type TestImage,
  verifySamples,
} from '@halogrid/kernels/testing';
import { isThorough } from '@halogrid/testing';
import type { NodeDevice } from './device.ts';
import { runOne, testedKind } from './testing/verify-against-reference.ts';
import { openWebGpuDevice } from './webgpu-device.ts';

const kernels = { ...catalogue, rank };
const programs = { rank: rankReference };
const hosts = { rank: rankOnGpu };

let device: NodeDevice;
before(async () => {
  device = await openWebGpuDevice(testedKind, { choose: () => undefined, hosts });
});
after(() => device.close());

const ways = {
  reference: async (pipeline: Pipeline, { item, bytes }: ReturnType<typeof staged>) =>
    runReference(pipeline, bytes, item, true, programs),
  cpu: async (pipeline: Pipeline, { item, bytes }: ReturnType<typeof staged>) =>
    runCpu(pipeline, bytes, item, true, programs),
  gpu: (pipeline: Pipeline, { item, bytes }: ReturnType<typeof staged>) => runOne(device, pipeline, bytes, item),
};

const rankOf = (parameters: Record<string, string>, border?: string): AskedOperation => {
  return { kernel: 'rank', parameters, border };
};
const size: Size = { width: 37, height: 21 };
const imageOf = (value: (x: number, y: number) => number): TestImage => {
  const at = (i: number) => value(i % size.width, Math.floor(i / size.width));
  return { ...size, pixels: Uint8Array.from({ length: size.width * size.height }, (_, i) => at(i)) };
};

// Expected by hand: no number here was computed by our own programs.
const cases: {
  name: string;
  image: TestImage;
  operation: AskedOperation;
  expected: (x: number, y: number) => number;
}[] = [
  {
    name: 'in a flat image no pixel is less than another',
    image: imageOf(() => 200),
    operation: rankOf({}, 'reflect'),
    expected: () => 0,
  },
  {
    name: 'in a ramp to the right the left columns of the square are less: radius * (2 radius + 1)',
    image: imageOf((x) => 3 * x),
    operation: rankOf({ radius: '3' }),
    expected: (x, y) => (x >= 3 && x < 34 && y >= 3 && y < 18 ? 21 : 0),
  },
  {
    name: 'around a single bright pixel the rest of the square is less; no other pixel has a lesser one',
    image: imageOf((x, y) => (x === 17 && y === 11 ? 255 : 7)),
    operation: rankOf({ radius: '2' }, 'replicate'),
    expected: (x, y) => (x === 17 && y === 11 ? 24 : 0),
  },
  {
    name: 'in a flat image with zeros around it the pixels outside are less: 5 at corners, 3 at edges',
    image: imageOf(() => 9),
    operation: rankOf({}, 'zero'),
    expected: (x, y) => [0, 3, 5][Number(x === 0 || x === 36) + Number(y === 0 || y === 20)]!,
  },
];

const pixels: PixelType[] = ['u8', 'u16'];

/** SwiftShader compiles a program for half a second of a core: one type of pixels is tried unless more is asked for. */
const pixelsOnGpu = (nth: number): PixelType[] => (testedKind === 'gpu' || isThorough ? pixels : [pixels[nth % 2]!]);

for (const [nth, { name, image, operation, expected }] of cases.entries()) {
  for (const [way, run] of Object.entries(ways)) {
    for (const pixel of way === 'gpu' ? pixelsOnGpu(nth) : pixels) {
      test(`${way}, ${pixel}: ${name}`, async () => {
        const pipeline = createPipelineOver(pixel, [operation], kernels);
        const pixels = pixel === 'u8' ? image.pixels : Uint16Array.from(image.pixels, (value) => 256 * value + 1);
        const result = await run(pipeline, staged(pipeline, { ...image, pixels }));
        const ranks = Array.from({ length: size.width * size.height }, (_, i) =>
          expected(i % size.width, Math.floor(i / size.width)),
        );
        assert.deepEqual([...samplesOf(pipeline, result, size)], ranks);
        const rim = operation.border ? 0 : 3;
        const counted = (size.width - 2 * rim) * (size.height - 2 * rim);
        assert.equal(result.counted, counted);
        const bins = new Array(pipeline.bins).fill(0);
        for (const value of ranks) bins[value]++;
        // Pixels at the rim have rank 0 and are not counted.
        bins[0] -= ranks.length - counted;
        assert.deepEqual([...result.bins], bins);
      });
    }
  }
}

test('tiles of noise, with the kernel alone or twice in a row, give the same on the GPU as on the reference', async () => {
  const tile = { x: 3, y: 2, width: 30, height: 17 };
  for (const [nth, operations] of [
    [rankOf({ radius: '7' }, 'mirror')],
    [rankOf({}, 'wrap'), rankOf({ radius: '2' }, 'wrap')],
  ].entries()) {
    for (const pixel of pixelsOnGpu(nth)) {
      const pipeline = createPipelineOver(pixel, operations, kernels);
      const { item, bytes } = staged(pipeline, noiseFor(pipeline, size, 5), tile, { rows: 2, columns: 3 });
      const ours = await runOne(device, pipeline, bytes, item);
      const reference = runReference(pipeline, bytes, item, true, programs);
      assert.deepEqual([ours.counted, ours.bins], [reference.counted, reference.bins]);
      verifySamples(samplesOf(pipeline, ours, tile), samplesOf(pipeline, reference, tile), pipeline, kernels);
    }
  }
});

test('an unknown parameter is refused; without its catalogue, so is the kernel', () => {
  const create = (operation: AskedOperation, known = kernels) => createPipelineOver('u8', [operation], known);
  assert.throws(() => create(rankOf({ radius: '8' })), {
    message: "Expected an integer from 1 to 7 for rank:radius but received '8'",
  });
  assert.throws(() => create(rankOf({ size: '3' })), {
    message: "Expected 'radius' for a parameter of rank but received 'size'",
  });
  assert.throws(() => createPipelineOver('u8', [rankOf({})]), { message: /^Expected one of lbp, ldp, conv, glcm/ });
});

test('the page shows the code that runs here', () => {
  const read = (path: string): string => readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8');
  const page = read('docs/extend.md');
  const shown = [...page.matchAll(/^<!-- (\S+) -->\n```\w+\n([\s\S]*?)^```$/gm)];
  assert.deepEqual([...new Set(shown.map(([, path]) => path))].sort(), [
    'libs/kernels/src/example/rank-gpu.ts',
    'libs/kernels/src/example/rank.ts',
    'libs/kernels/src/example/rank.wgsl',
  ]);
  for (const [, path, code] of shown) assert.ok(read(path!).includes(code!), `${path} is not as the page shows it`);
});
