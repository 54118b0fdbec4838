import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { named, namedAll, Sentence, sentence } from './sentence.ts';

test('only names in a sentence are replaced, never its values', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.string(), (value, name, other) => {
      const said = sentence`Expected ${value} for ${named(name)} but received '${value}'`;
      assert.equal(String(said), `Expected ${value} for ${name} but received '${value}'`);
      assert.equal(said.field, name);
      const renamed = said.naming((found) => (found === name ? other : 'lost'));
      assert.equal(String(renamed), `Expected ${value} for ${other} but received '${value}'`);
    }),
  );
});

test('a sentence inside another sentence keeps its names', () => {
  const inner = sentence`one of ${namedAll(['a', 'b', 'c'])}`;
  const whole = sentence`Expected ${inner} for ${named('d')}`;
  assert.equal(String(whole.naming((name) => name.toUpperCase())), 'Expected one of A, B, C for D');
  assert.deepEqual(whole.parts, ['Expected one of ', 'a', ', ', 'b', ', ', 'c', ' for ', 'd', '']);
});

test('a sentence without names has no field', () => {
  assert.equal(sentence`Expected ${1} of ${'it'}`.field, undefined);
  assert.deepEqual(sentence``.parts, ['']);
  assert.equal(String(new Sentence(['x'])), 'x');
  assert.equal(String(namedAll([])), '');
});
