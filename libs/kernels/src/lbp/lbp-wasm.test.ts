import assert from 'node:assert/strict';
import test from 'node:test';
import { runs } from '@halogrid/testing';
import fc from 'fast-check';
import { runCpu } from '../cpu.ts';
import { borderModes } from '../kernel/border.ts';
import { createPipeline, parseOperation } from '../pipeline/pipeline.ts';
import { runReference } from '../reference.ts';
import { noiseImage, staged, tileArbitrary } from '../testing/index.ts';

const ops = [
  'lbp:convention=nw-cw-msb',
  'lbp:convention=nw-cw-lsb',
  'lbp:convention=nw-cw-lsb,labels=uniform',
  'lbp:convention=nw-cw-msb,labels=ror',
  'lbp:convention=bob',
  'lbp:convention=bob,labels=nri-uniform',
  'lbp:labels=var',
  'lbp:points=16,radius=2,labels=uniform',
  'lbp:convention=scikit-image',
  'lbp:convention=scikit-image,points=8,radius=1,labels=ror',
  'lbp:convention=opencv',
  'lbp:convention=mahotas,points=12,radius=2.5',
  'lbp:points=16,radius=3,labels=nri-uniform',
  'lbp:points=24,radius=3,labels=uniform',
];

test('tiles of any size, place and border equal the reference', () => {
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
    { numRuns: runs(1000) },
  );
});

const large = [
  { size: { width: 200_000, height: 3 }, op: 'lbp' },
  { size: { width: 1, height: 200_000 }, op: 'lbp' },
  { size: { width: 523, height: 131 }, op: 'lbp' },
  { size: { width: 1920, height: 1080 }, op: 'lbp' },
  { size: { width: 1031, height: 5 }, op: 'lbp:convention=scikit-image,labels=uniform' },
  { size: { width: 3, height: 1031 }, op: 'lbp:points=16,radius=2.5' },
  { size: { width: 523, height: 131 }, op: 'lbp:points=12,radius=4' },
];

for (const { size, op } of large) {
  test(`images larger than a band or a strip equal the reference: ${size.width} x ${size.height}, ${op}`, () => {
    const pipeline = createPipeline([{ ...parseOperation(op), border: 'mirror' }]);
    const { item, bytes } = staged(pipeline, noiseImage(size, 5));
    assert.deepEqual(runCpu(pipeline, bytes, item, true), runReference(pipeline, bytes, item, true));
  });
}
