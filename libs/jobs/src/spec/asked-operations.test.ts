import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPipeline, parseOperation, specifiedOperations } from '@halogrid/kernels';
import fc from 'fast-check';
import { askedPipelines } from './asked-operations.ts';

const specified = (...texts: string[]) => ({
  pipeline: { operations: specifiedOperations(createPipeline(texts.map(parseOperation))) },
});

test('the text of an operation leaves out default values', () => {
  const asked = (...texts: string[]) => askedPipelines(specified(...texts))[0]!.operations;
  assert.deepEqual(asked('lbp'), ['lbp']);
  assert.deepEqual(asked('lbp:labels=uniform'), ['lbp:labels=uniform']);
  assert.deepEqual(asked('ldp:order=2'), ['ldp:order=2']);
});

test('the text of an operation means the same operation', () => {
  const labels = fc.constantFrom('all', 'ror', 'uniform', 'nri-uniform');
  fc.assert(
    fc.property(labels, fc.integer({ min: 1, max: 3 }), (label, radius) => {
      const given = specified(`lbp:labels=${label},radius=${radius},points=8`);
      const told = askedPipelines(given)[0]!.operations;
      assert.deepEqual(specified(...told), given);
    }),
    { numRuns: 20 },
  );
});
