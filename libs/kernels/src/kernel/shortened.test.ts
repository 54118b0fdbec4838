import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runs } from '@halogrid/testing';
import fc from 'fast-check';
import { shortened } from './shortened.ts';

test('short values are shown whole, long ones by their beginning', () => {
  assert.equal(shortened('tiff'), 'tiff');
  assert.equal(shortened('ä'.repeat(200)), 'ä'.repeat(200));
  assert.equal(shortened('x'.repeat(201)), `${'x'.repeat(199)}…`);
  assert.equal(shortened('x'.repeat(1e6), 5), 'xxxx…');
  assert.equal(shortened(-1.5), '-1.5');
});

test('control characters are written out', () => {
  assert.equal(shortened('a\u001b[2Jb\nc'), 'a\\u{1b}[2Jb\\u{a}c');
  assert.equal(shortened('abc\u202ecba'), 'abc\\u{202e}cba');
  assert.equal(shortened('\ud800'), '\\u{d800}');
});

test('every value is shown within the limit, in whole characters, and without control characters', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 400 }), fc.integer({ min: 1, max: 300 }), (value, most) => {
      const shown = shortened(value, most);
      assert.ok(shown.length <= most);
      assert.ok(shown.isWellFormed());
      assert.doesNotMatch(shown, /\p{Cc}/u);
    }),
    { numRuns: runs(300) },
  );
});
