import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expandBraces } from './expand-braces.ts';

const table: [pattern: string, texts: string[]][] = [
  ['a', ['a']],
  ['a{b,c}d', ['abd', 'acd']],
  ['{a,b}{1,2}', ['a1', 'a2', 'b1', 'b2']],
  ['{a,b{1,2}}', ['a', 'b1', 'b2']],
  ['a{,.bak}', ['a', 'a.bak']],
  ['{8..10}', ['8', '9', '10']],
  ['{08..10}', ['08', '09', '10']],
  ['{2..1}', ['2', '1']],
  ['{a}', ['{a}']],
  ['{a{b,c}}', ['{ab}', '{ac}']],
  ['{a,b', ['{a,b']],
  ['}{a,b}', ['}a', '}b']],
];
for (const [pattern, texts] of table) {
  test(`${pattern} stands for ${texts.join(' ')}`, () => assert.deepEqual(expandBraces(pattern), texts));
}

test('more alternatives than anybody means are refused with one sentence', () => {
  assert.throws(() => expandBraces('{1..10001}'), /^RangeError: Expected at most 10000 alternatives in the braces but/);
  assert.throws(() => expandBraces('{1..200}{1..200}'), /^RangeError: Expected at most 10000 alternatives/);
});
