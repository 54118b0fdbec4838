import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stripFrames } from './strip-frames.js';

test('a strip shows frames spread over all, or the frames around one', () => {
  assert.equal(stripFrames(401, undefined), 'from=0&step=50&count=9');
  // The strip reaches the last frame, even with one frame fewer.
  assert.equal(stripFrames(24, undefined), 'from=0&step=3&count=9');
  assert.equal(stripFrames(3, undefined), 'from=0&step=1&count=3');
  assert.equal(stripFrames(401, 200), 'from=196&step=1&count=9');
  assert.equal(stripFrames(401, 2), 'from=0&step=1&count=9');
  assert.equal(stripFrames(401, 400), 'from=392&step=1&count=9');
  assert.equal(stripFrames(1, 0), 'from=0&step=1&count=1');
});
