import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPipeline } from '@halogrid/kernels';
import { parseCudaRows } from '../cuda/cuda-programs.ts';
import { deviceLimits, kernelTable, leastMs } from './bench-kernels.ts';
import { bytesAPixel, kernelSuite } from './kernel-suite.ts';

const row = (fields: object, ms = 1) =>
  JSON.stringify({ name: '', block: null, ms: { mean: ms, median: ms, stdev: 0, min: ms }, repetitions: 1, ...fields });
const limits = [
  row({ report: 'limits', name: 'copy', gbPerSecond: 2000 }),
  row({ report: 'limits', name: 'copy-large', gbPerSecond: 4000 }),
  row({ report: 'limits', name: 'multiply-add', teraMultiplyAddsPerSecond: 30 }),
];

test('every kernel of the suite is right, and its bytes are those it reads and writes', () => {
  for (const { operations, output, name } of kernelSuite) {
    assert.ok(output === 'map' || createPipeline(operations).bins > 0, name);
  }
  const bytes = Object.fromEntries(kernelSuite.map((one) => [one.name, bytesAPixel(one)]));
  assert.equal(bytes['LBP map'], 2);
  assert.equal(bytes['LBP histogram, random'], 1);
  assert.equal(bytes['LDP order 3 map and histogram'], 5);
  assert.equal(bytes['conv, any matrix of 21x21'], 5);
  assert.equal(bytes['conv gaussian-5 as u8'], 2);
});

test('the limit is that of memory or of arithmetic, whichever is farther', () => {
  const device = deviceLimits(parseCudaRows(limits.join('\n')))!;
  assert.equal(leastMs(device, 8e9, 30e9), 2);
  assert.equal(leastMs(device, 4e9, 90e9), 3);
  assert.equal(deviceLimits([]), undefined);
});

test('the table has columns of limits and CUDA only where CUDA ran', () => {
  const times = kernelSuite.map(({ name }) => ({ name, samplesMs: [0.4, 0.5, 0.6] }));
  const size = { width: 2000, height: 1000 };
  const without = kernelTable('A device', size, times).split('\n');
  assert.match(without[0]!, /^A device +median ms +min ms +max ms +Gpx\/s$/);
  assert.match(without[1]!, /^LBP map +0\.5000 +0\.4000 +0\.6000 +4$/);

  const lines = [...limits, row({ report: 'R1', name: 'global', block: '32x8' }, 0.75)];
  const cuda = kernelTable('A device', size, times, parseCudaRows(lines.join('\n'))).split('\n');
  assert.match(cuda[1]!, /^LBP map +0\.5000 +0\.4000 +0\.6000 +4 +0\.0010 +0\.7500 +1\.50 +global 32x8$/);
  assert.match(cuda[3]!, /^LBP histogram.* 0\.0005 +- +- +-$/);
});
