import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { didYouMean } from './did-you-mean.ts';

const table: [written: string, words: string[], meant: string][] = [
  ['lpb', ['lbp', 'ldp', 'conv'], 'lbp'],
  ['LDP', ['lbp', 'ldp', 'conv'], 'ldp'],
  ['convolution', ['lbp', 'ldp', 'conv'], 'conv'],
  ['sift', ['lbp', 'ldp', 'conv'], ''],
  ['', ['lbp', 'ldp', 'conv'], ''],
  ['map_format', ['sources', 'mapFormat'], 'mapFormat'],
  ['tile', ['title', 'tilePx'], 'tilePx'],
  ['source', ['sourceGrace', 'sources'], 'sources'],
  ['pont', ['radius', 'points'], 'points'],
  ['gif', ['none', 'tiff'], ''],
  ['cpu', ['gpu', 'software'], ''],
  ['u16', ['f32', 'u8', 'i16'], ''],
  ['point', ['radius', 'points'], 'points'],
  ['unifrom', ['all', 'uniform', 'nri-uniform'], 'uniform'],
  ['gaussian5', ['gaussian-5', 'sobel'], 'gaussian-5'],
];
for (const [written, words, meant] of table) {
  test(`'${written}' is taken for ${meant || 'no other word'}`, () => {
    assert.equal(didYouMean(written, words), meant === '' ? '' : ` (did you mean ${meant}?)`);
  });
}

test('one edit of a word of four letters or more is recognised, and the suggestion is one of the words', () => {
  const word = fc.stringMatching(/^[a-z]{4,9}$/);
  fc.assert(
    fc.property(word, fc.nat(), fc.stringMatching(/^[a-z]$/), (right, at, letter) => {
      const place = at % right.length;
      for (const wrong of [
        right.slice(0, place) + right.slice(place + 1),
        right.slice(0, place) + letter + right.slice(place),
        right.slice(0, place) + letter + right.slice(place + 1),
      ]) {
        assert.equal(didYouMean(wrong, [right]), ` (did you mean ${right}?)`);
      }
    }),
  );
});
