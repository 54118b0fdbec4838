import assert from 'node:assert/strict';
import test from 'node:test';
import { bandsText, maxBand, scaleText } from '@halogrid/proto/sample-options';
import { runs } from '@halogrid/testing';
import fc from 'fast-check';
import { bandsIn, scaleIn } from './picture-texts.js';

test('what is written as an option is read back', () => {
  const bands = fc.uniqueArray(fc.integer({ min: 1, max: maxBand }), { minLength: 1 });
  const finite = fc.double({ noDefaultInfinity: true, noNaN: true });
  const scales = fc.record({ min: finite, max: finite, bits: fc.constantFrom(8, 16) });
  const property = fc.property(bands, scales, (numbers, scale) => {
    assert.deepEqual(bandsIn(bandsText({ numbers })), { numbers });
    const read = scaleIn(scaleText(scale));
    // -0 is written as 0.
    assert.deepEqual(read, { ...scale, min: scale.min + 0, max: scale.max + 0 });
  });
  fc.assert(property, { numRuns: runs(1000) });
  assert.deepEqual(bandsIn('all'), { numbers: [], all: true });
  assert.deepEqual(scaleIn('0,1'), { min: 0, max: 1, bits: 8 });
});

for (const text of ['', '0', '1,', ',1', '1,0', '1.5', '-1', '1 2', 'All', '100000'])
  test(`'${text}' is not bands`, () => assert.equal(bandsIn(text), undefined));

for (const text of ['', '1', '1,', '1,2,3', '1,2,u9', '1, 2', '1,2,u8,', 'a,2', '1,Infinity', 'NaN,1'])
  test(`'${text}' is not a scale`, () => assert.equal(scaleIn(text), undefined));
