import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UsageError } from '@halogrid/service';
import { gpuChoice } from './gpu-option.ts';

test('a GPU is an index, or all of them', () => {
  assert.deepEqual([gpuChoice('all'), gpuChoice('0')], ['all', 0]);
  assert.throws(
    () => gpuChoice('0,1'),
    new UsageError("Expected 'auto', 'all', or the index or UUID of a GPU for --gpu but received '0,1'"),
  );
});
