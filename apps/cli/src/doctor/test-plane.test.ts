import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runReference } from '@halogrid/kernels';
import { testPlane } from './probe.ts';

test('every code occurs in the plane that tests devices', () => {
  const { pipeline, item, bytes } = testPlane();
  const { bins, counted } = runReference(pipeline, bytes, item, false);
  assert.equal(counted, 127 * 93);
  assert.ok(bins.every((count) => count > 0));
});
