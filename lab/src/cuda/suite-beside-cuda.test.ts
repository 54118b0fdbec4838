import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kernelSuite } from '@halogrid/bench/kernel-suite';
import { kernelTable } from '@halogrid/bench/kernels';
import { parseCudaRows } from './cuda-programs.ts';
import { besideCases, bytesAPixel, cudaColumns, deviceLimits, leastMs } from './suite-beside-cuda.ts';

const row = (fields: object, ms = 1) =>
  JSON.stringify({ name: '', block: null, ms: { mean: ms, median: ms, stdev: 0, min: ms }, repetitions: 1, ...fields });
const limits = [
  row({ report: 'limits', name: 'copy', gbPerSecond: 2000 }),
  row({ report: 'limits', name: 'copy-large', gbPerSecond: 4000 }),
  row({ report: 'limits', name: 'multiply-add', teraMultiplyAddsPerSecond: 30 }),
];

test('every case that has something beside it is in the suite', () => {
  const names = new Set(kernelSuite.map(({ name }) => name));
  assert.deepEqual(
    [...besideCases.keys()].filter((name) => !names.has(name)),
    [],
  );
});

test('the bytes of a case are what it reads and writes', () => {
  const bytes = Object.fromEntries(kernelSuite.map((one) => [one.name, bytesAPixel(one)]));
  assert.equal(bytes['LBP map'], 2);
  assert.equal(bytes['LBP histogram, random'], 1);
  assert.equal(bytes['LDP order 3 map and histogram'], 5);
  assert.equal(bytes['conv, any matrix of 21x21'], 5);
  assert.equal(bytes['conv gaussian-5 as u8'], 2);
});

test('the limit is that of memory or of arithmetic, whichever takes longer', () => {
  const device = deviceLimits(parseCudaRows(limits.join('\n')))!;
  assert.equal(leastMs(device, 8e9, 30e9), 2);
  assert.equal(leastMs(device, 4e9, 90e9), 3);
  assert.equal(deviceLimits([]), undefined);
});

test('the table of the suite gets columns of limits and of CUDA', () => {
  const times = kernelSuite.map(({ name }) => ({ name, samplesMs: [0.4, 0.5, 0.6] }));
  const suite = { title: 'A device', size: { width: 2000, height: 1000 }, times };
  const lines = [...limits, row({ report: 'R1', name: 'global', block: '32x8' }, 0.75)];
  const table = kernelTable(suite, cudaColumns(suite.size, parseCudaRows(lines.join('\n')))).split('\n');
  assert.match(table[0]!, / Gpx\/s +limit ms +CUDA ms +CUDA \/ halogrid +CUDA kernel$/);
  assert.match(table[1]!, /^LBP map +0\.5000 +0\.4000 +0\.6000 +4 +0\.0010 +0\.7500 +1\.50 +global 32x8$/);
  assert.match(table[3]!, /^LBP histogram.* 0\.0005 +- +- +-$/);
});
