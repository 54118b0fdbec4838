import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { borderModes } from '../border.ts';
import { runCpu } from '../cpu.ts';
import { createPipeline, parseOperation } from '../pipeline.ts';
import { runReference } from '../reference.ts';
import { noiseImage, staged, tileArbitrary } from '../testing.ts';

const ops = [
  'lbp:convention=nw-cw-msb',
  'lbp:convention=nw-cw-lsb',
  'lbp:convention=nw-cw-lsb,labels=uniform',
  'lbp:convention=nw-cw-msb,labels=ror',
  'lbp:convention=bob',
  'lbp:convention=bob,labels=nri-uniform',
  'lbp:labels=var',
  'lbp:points=16,radius=2,labels=uniform',
];

test('tiles of any size, place and border equal the CPU twin', () => {
  fc.assert(
    fc.property(
      tileArbitrary(120, 40),
      fc.constantFrom(...borderModes),
      fc.constantFrom(...ops),
      fc.boolean(),
      ({ size, tile, seed, levels }, border, op, withMap) => {
        const pipeline = createPipeline([{ ...parseOperation(op), border }]);
        const { item, bytes } = staged(pipeline, noiseImage(size, seed, levels), tile);
        assert.deepEqual(runCpu(pipeline, bytes, item, withMap), runReference(pipeline, bytes, item, withMap));
      },
    ),
    { numRuns: 1000 },
  );
});

test('images wider, higher and larger than a band equal the CPU twin', () => {
  for (const size of [
    { width: 200_000, height: 3 },
    { width: 1, height: 200_000 },
    { width: 523, height: 131 },
    { width: 1920, height: 1080 },
  ]) {
    const pipeline = createPipeline([{ kernel: 'lbp', parameters: {}, border: 'mirror' }]);
    const { item, bytes } = staged(pipeline, noiseImage(size, 5));
    assert.deepEqual(runCpu(pipeline, bytes, item, true), runReference(pipeline, bytes, item, true));
  }
});
