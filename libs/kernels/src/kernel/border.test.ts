import assert from 'node:assert/strict';
import test from 'node:test';
import { borderIndex, borderModes, parseBorderMode } from './border.ts';

// As in SciPy's documentation of ndimage, for a row "abcd".
const pictures = {
  zero: '....abcd....',
  replicate: 'aaaaabcddddd',
  reflect: 'dcbaabcddcba',
  mirror: 'cdcbabcdcbab',
  wrap: 'abcdabcdabcd',
} as const;

for (const [mode, picture] of Object.entries(pictures)) {
  test(`${mode} continues a row as SciPy documents it`, () => {
    const row = Array.from({ length: 12 }, (_, i) => {
      const at = borderIndex(i - 4, 4, parseBorderMode(mode));
      return at < 0 ? '.' : 'abcd'[at];
    });
    assert.equal(row.join(''), picture);
  });
}

test('rows of one pixel have a continuation too', () => {
  for (const mode of borderModes) {
    assert.deepEqual(
      [-2, -1, 0, 1, 2].map((i) => borderIndex(i, 1, mode)),
      mode === 'zero' ? [-1, -1, 0, -1, -1] : [0, 0, 0, 0, 0],
    );
  }
});

test('names of other libraries become the canonical mode; unknown ones are refused, with the allowed ones', () => {
  assert.equal(parseBorderMode('nearest'), 'replicate');
  assert.equal(parseBorderMode('symmetric'), 'reflect');
  assert.equal(parseBorderMode('reflect101'), 'mirror');
  assert.throws(() => parseBorderMode('mirrored'), /zero, replicate, reflect, mirror, wrap, interior.*'mirrored'/);
});
