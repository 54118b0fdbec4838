import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { timesAsLong } from '../testing/times-as-long.ts';
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

interface Braces {
  text: string;
  stands: string[];
}

/** Patterns, and what they stand for by the definition. */
const { pattern } = fc.letrec<{ pattern: Braces; piece: Braces }>((tie) => ({
  pattern: fc.array(tie('piece'), { maxLength: 3 }).map((pieces) => ({
    text: pieces.map((piece) => piece.text).join(''),
    stands: pieces.reduce((all, { stands }) => all.flatMap((start) => stands.map((end) => start + end)), ['']),
  })),
  piece: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom('a', 'b.', '漢').map((text) => ({ text, stands: [text] })),
    fc.tuple(fc.nat(12), fc.nat(3)).map(([from, more]) => ({
      text: `{${from}..${from + more}}`,
      stands: Array.from({ length: more + 1 }, (_, i) => `${from + i}`),
    })),
    tie('pattern').map(({ text, stands }) => ({ text: `{x${text}}`, stands: stands.map((one) => `{x${one}}`) })),
    fc.array(tie('pattern'), { minLength: 2, maxLength: 3 }).map((list) => ({
      text: `{${list.map(({ text }) => text).join(',')}}`,
      stands: list.flatMap(({ stands }) => stands),
    })),
  ),
}));

test('braces in braces stand for what their parts do', () => {
  const few = pattern.filter(({ stands }) => stands.length < 1000);
  fc.assert(fc.property(few, ({ text, stands }) => assert.deepEqual(expandBraces(text), stands, text)));
});

test('no pattern takes more than a moment, however its braces are nested', () => {
  const deep = (open: string, close: string, times: number) => open.repeat(times) + close.repeat(times);
  const patterns = [
    '{'.repeat(8000),
    deep('{', '}', 4000),
    deep('{', ',}', 2700),
    deep('{,', '}', 2700),
    deep('{a,', 'b}', 2000),
    `${'{a'.repeat(2000)}{1..100}${'}'.repeat(2000)}`,
    '{a,b}'.repeat(1600),
    `{1..10000}${'{a}'.repeat(2000)}`,
    `{1..10000}${'a,'.repeat(4000)}`,
    `{${'{1..100},'.repeat(800)}}`,
    '{,'.repeat(4000),
  ];
  const expandAll = () => {
    for (const pattern of patterns) {
      try {
        expandBraces(pattern);
      } catch (error) {
        assert.match(String(error), /^RangeError: Expected at most \d+ (alternatives|characters) in /);
      }
    }
  };
  const most = `{1..10000}${'a'.repeat(95)}`;
  const writeMost = () => {
    for (let i = 0; i < 100; i++) expandBraces(most);
  };
  const times = timesAsLong(expandAll, writeMost);
  assert.ok(times < 20, `${times} times as long as to write the most that there may be 100 times`);
});
