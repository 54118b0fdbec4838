import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeIndex, framesPath, searchPath, shownFrames, utcMs } from './search-query.js';

test('the path of a search has the given options, and nothing else', () => {
  const options = { region: '1,2,3x4', camera: '', distance: 'l1' };
  assert.equal(searchPath('a b', { row: 7 }, options), 'search?index=a+b&row=7&region=1%2C2%2C3x4&distance=l1');
  assert.equal(searchPath('x', { uri: 'file:///a', frame: 3 }, {}), 'search?index=x&uri=file%3A%2F%2F%2Fa&frame=3');
  assert.equal(searchPath('x', { file: new File([], 'q.png') }, {}), 'search?index=x');
  assert.deepEqual([utcMs('1970-01-02T00:00'), utcMs('')], ['86400000', '']);
});

test('frames are spread over the whole index, or are a run that ends within it', () => {
  assert.deepEqual(framesPath(undefined, 1200), { first: 0, step: 100, count: shownFrames });
  assert.deepEqual(framesPath(undefined, 5), { first: 0, step: 1, count: shownFrames });
  assert.deepEqual(framesPath(24, 1200), { first: 24, step: 1, count: shownFrames });
  assert.deepEqual(framesPath(1199, 1200), { first: 1200 - shownFrames, step: 1, count: shownFrames });
});

test('an index is described, or why it cannot be opened', () => {
  const index = {
    name: 'a',
    frames: 1,
    pipeline: 'lbp',
    rows: 2,
    columns: 4,
    knowsCaptured: false,
    knowsCamera: false,
    error: '',
  };
  assert.equal(describeIndex(index), '1 frame, lbp, grid 2 x 4');
  assert.equal(describeIndex({ ...index, error: 'It is torn' }), 'It is torn');
});
