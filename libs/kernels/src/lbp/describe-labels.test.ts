import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPipeline } from '../pipeline/pipeline.ts';
import { labelOf } from './labels.ts';

test('every result of lbp describes its channel and its bins', () => {
  const table: [parameters: Record<string, string>, bin: string | undefined][] = [
    [{}, 'pixels of code i; bit b of a code is neighbour b of the 8 in the order of nw-cw-msb'],
    [
      { labels: 'ror', points: '12', radius: '2' },
      'pixels whose code, rotated to be the least, is i; bit b of a code is neighbour b of the 12 in the order of scikit-image',
    ],
    [{ labels: 'uniform' }, 'pixels of uniform codes with i ones of 8; bin 9: all codes that are not uniform'],
    [
      { labels: 'uniform', convention: 'bob' },
      'pixels of uniform codes with i - 1 ones of 8; bin 0: all codes that are not uniform',
    ],
    [
      { labels: 'nri-uniform' },
      'pixels of one uniform code each: none, then the runs of 1 to 7 ones in each of 8 turns, then all, from bin 0 on; bin 58: all codes that are not uniform',
    ],
    [{ labels: 'var', convention: 'scikit-image' }, undefined],
    [{ points: '24', radius: '3' }, undefined],
  ];
  for (const [parameters, bin] of table) {
    const { words, bins, output } = createPipeline([{ kernel: 'lbp', parameters }]);
    assert.equal(words.bin, bin);
    assert.equal(bins > 0, bin !== undefined);
    assert.equal(words.channels.length, output.channels.length);
  }
  // 01010101 is not uniform; 00000111 has three ones.
  assert.deepEqual([labelOf(0x55, 8, 'uniform', 'last'), labelOf(7, 8, 'uniform', 'last')], [9, 3]);
  assert.deepEqual([labelOf(0x55, 8, 'uniform', 'first'), labelOf(7, 8, 'uniform', 'first')], [0, 4]);
  assert.deepEqual([labelOf(0x55, 8, 'nri-uniform', 'last'), labelOf(255, 8, 'nri-uniform', 'last')], [58, 57]);
});
