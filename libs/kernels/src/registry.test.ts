import assert from 'node:assert/strict';
import test from 'node:test';
import { kernelNames } from './catalogue.ts';
import { convReference } from './conv/reference.ts';
import { glcmReference } from './glcm/reference.ts';
import { lbpReference } from './lbp/reference.ts';
import { ldpReference } from './ldp/reference.ts';
import { createPipeline } from './pipeline/pipeline.ts';
import type { CataloguePrograms } from './registry.ts';
import { lineOf } from './registry.ts';

test('a table that lacks a kernel of the catalogue, or has the program of another, does not compile', () => {
  const complete: CataloguePrograms = {
    lbp: lbpReference,
    ldp: ldpReference,
    conv: convReference,
    glcm: glcmReference,
  };
  // @ts-expect-error: conv and glcm are missing.
  const incomplete: CataloguePrograms = { lbp: lbpReference, ldp: ldpReference };
  // @ts-expect-error: ldp reads an order, which the settings of lbp do not have.
  const mistaken: CataloguePrograms = { ...complete, lbp: ldpReference };
  assert.deepEqual(Object.keys(complete), kernelNames);
  for (const table of [incomplete, mistaken]) assert.notDeepEqual(table, complete);
});

test('an error names the kernel that a table lacks', () => {
  const [operation] = createPipeline([{ kernel: 'ldp', parameters: {} }]).operations;
  assert.equal(lineOf({ ldp: 7 }, operation!).line, 7);
  assert.throws(() => lineOf({ lbp: 7 }, operation!), { message: "There is no program for the kernel 'ldp' here" });
  assert.throws(() => lineOf({}, { ...operation!, kernel: 'toString' }), { message: /'toString'/ });
});
