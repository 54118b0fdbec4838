import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPipeline, kernelNames } from '@halogrid/kernels';
import { kernelTable } from './bench-kernels.ts';
import { kernelSuite } from './kernel-suite.ts';

test('every kernel of the catalogue is in the suite, and each case can be run', () => {
  for (const { operations, output, name } of kernelSuite) {
    assert.ok(output === 'map' || createPipeline(operations).bins > 0, name);
  }
  const measured = new Set(kernelSuite.map(({ operations }) => operations.at(-1)!.kernel));
  assert.deepEqual([...measured].sort(), [...kernelNames].sort());
});

test('the table has a row a case, and further columns on the right', () => {
  const times = kernelSuite.map(({ name }) => ({ name, samplesMs: [0.4, 0.5, 0.6] }));
  const suite = { title: 'A device', size: { width: 2000, height: 1000 }, times };
  const plain = kernelTable(suite).trimEnd().split('\n');
  assert.equal(plain.length, kernelSuite.length + 1);
  assert.match(plain[0]!, /^A device +median ms +min ms +max ms +Gpx\/s$/);
  assert.match(plain[1]!, /^LBP map +0\.5000 +0\.4000 +0\.6000 +4$/);

  const more = { headings: ['twice'], cellsOf: (_: unknown, medianMs: number) => [String(2 * medianMs)] };
  assert.match(kernelTable(suite, more).split('\n')[1]!, /^LBP map .* 4 +1$/);
});
