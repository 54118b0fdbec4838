import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeJpegs, probeJpegs } from './jpegs.ts';

test('libjpeg-turbo is loaded and says its version', () => {
  assert.match(describeJpegs(probeJpegs()), /^work: libjpeg-turbo 3\.\d+\.\d+, \//);
});
