import assert from 'node:assert/strict';
import test from 'node:test';
import type { PixelType } from '@halogrid/geometry';
import { runs } from '@halogrid/testing';
import fc from 'fast-check';
import { convArbitrary } from './conv/testing/arbitrary.ts';
import { runCpu } from './cpu.ts';
import { borderModes } from './kernel/border.ts';
import type { AskedOperation } from './kernel/operation.ts';
import { createPipeline, parseOperation, pipelineOver } from './pipeline/pipeline.ts';
import { runReference } from './reference.ts';
import {
  createPipelineOver,
  noiseFor,
  noiseImage,
  samplesOf,
  staged,
  type TestImage,
  tileArbitrary,
  verifyBins,
  verifySamples,
} from './testing/index.ts';

const ops = [
  'lbp',
  'lbp:convention=nw-cw-lsb,labels=uniform',
  'lbp:convention=bob,labels=nri-uniform',
  'lbp:labels=ror',
  'lbp:labels=var',
  'lbp:points=12,radius=1.5',
  'lbp:convention=mahotas,points=9,radius=2.25',
  'ldp:order=2',
  'ldp:order=6',
];

const operationArbitrary: fc.Arbitrary<AskedOperation> = fc.oneof(
  fc.constantFrom(...ops).map(parseOperation),
  convArbitrary.map(({ parameters }) => ({ kernel: 'conv', parameters })),
);

test('on the cpu device 16-bit tiles of any size, place, border and kernel equal the reference', () => {
  fc.assert(
    fc.property(
      tileArbitrary(70, 20),
      operationArbitrary,
      fc.constantFrom(...borderModes),
      fc.boolean(),
      ({ size, tile, seed, levels }, operation, border, withMap) => {
        const pipeline = createPipelineOver('u16', [{ ...operation, border }]);
        const { item, bytes } = staged(pipeline, noiseFor(pipeline, size, seed, levels), tile);
        const [ours, reference] = [runCpu, runReference].map((run) => run(pipeline, bytes, item, withMap));
        verifyBins(ours!.bins, reference!.bins, pipeline);
        assert.equal(ours!.counted, reference!.counted);
        if (withMap) verifySamples(samplesOf(pipeline, ours!, tile), samplesOf(pipeline, reference!, tile), pipeline);
        else assert.equal(ours!.map, undefined);
      },
    ),
    { numRuns: runs(600) },
  );
});

/** The 8-bit image stretched to 16 bits: 0 stays 0, and 255 becomes 65535. */
const deepened = ({ pixels, ...size }: TestImage): TestImage => {
  return { ...size, pixels: Uint16Array.from(pixels, (v) => 257 * v) };
};

for (const [name, run] of Object.entries({ reference: runReference, cpu: runCpu })) {
  test(`${name}: the codes of an 8-bit image stay the same if every pixel is multiplied by 257`, () => {
    fc.assert(
      fc.property(
        tileArbitrary(40, 20),
        fc.constantFrom(...ops.filter((op) => !op.includes('var'))),
        fc.constantFrom(...borderModes),
        ({ size, tile, seed, levels }, op, border) => {
          const image = noiseImage(size, seed, levels);
          const [codes, deepCodes] = [image, deepened(image)].map((pixels, i) => {
            const pixel = (['u8', 'u16'] as PixelType[])[i]!;
            const pipeline = createPipelineOver(pixel, [{ ...parseOperation(op), border }]);
            const { item, bytes } = staged(pipeline, pixels, tile);
            const result = run(pipeline, bytes, item, true);
            return { bins: result.bins, samples: samplesOf(pipeline, result, tile) };
          });
          assert.deepEqual(deepCodes, codes);
        },
      ),
      { numRuns: runs(300) },
    );
  });
}

test('only the first kernel of a pipeline reads 16-bit pixels', () => {
  const shallow = createPipeline([
    { kernel: 'conv', parameters: { kernel: 'box-3', as: 'u8' } },
    { kernel: 'lbp', parameters: {} },
  ]);
  const deep = pipelineOver('u16', shallow);
  assert.deepEqual(
    deep.operations.map(({ reads }) => reads),
    ['u16', undefined],
  );
  assert.equal(deep.pixel, 'u16');
  assert.deepEqual(pipelineOver('u8', deep), shallow);
  const size = { width: 21, height: 9 };
  const image = noiseFor(shallow, size, 7);
  // A box of values from 0 to 255 is the same in 16 bits as in 8 bits.
  const [a, b] = [
    { pipeline: shallow, image },
    { pipeline: deep, image: { ...size, pixels: Uint16Array.from(image.pixels) } },
  ].map(({ pipeline, image: of }) => {
    const { item, bytes } = staged(pipeline, of);
    return samplesOf(pipeline, runCpu(pipeline, bytes, item, true), size);
  });
  assert.deepEqual(a, b);
});
