import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runs } from '@halogrid/testing';
import fc from 'fast-check';
import { timesAsLong } from '../testing/times-as-long.ts';
import { matchesName, parseName } from './match-name.ts';

/** A part of a pattern, its text, and what it stands for. */
type Part = { text: string; one?: (char: string) => boolean; any?: true };

/** By its definition: every length of what `*` stands for is tried. */
function isMatch(parts: readonly Part[], name: readonly string[]): boolean {
  const [part, ...rest] = parts;
  if (!part) return name.length === 0;
  if (part.any) return isMatch(rest, name) || (name.length > 0 && isMatch(parts, name.slice(1)));
  return name.length > 0 && part.one!(name[0]!) && isMatch(rest, name.slice(1));
}

const char = fc.constantFrom('a', 'b', 'c', 'A', '-', '.', '漢', '😀', '😁', '\n', ']', '^', '!', '\\', '$');
const isBetween = (char: string, from: string, to: string): boolean =>
  char.codePointAt(0)! >= from.codePointAt(0)! && char.codePointAt(0)! <= to.codePointAt(0)!;
const item = fc.oneof(
  fc.constantFrom('a', 'b', '漢', '😀').map((one) => ({ text: one, has: (char: string) => char === one })),
  fc.constantFrom('a-c', 'A-Z', '一-龥', '😀-😂').map((text) => {
    const [from, to] = text.split('-') as [string, string];
    return { text, has: (char: string) => isBetween(char, from, to) };
  }),
);
const set = fc
  .tuple(fc.constantFrom('', '!', '^'), fc.boolean(), fc.array(item, { minLength: 1, maxLength: 3 }))
  .map(([not, hasBracket, items]): Part => {
    const has = (char: string) => (hasBracket && char === ']') || items.some((item) => item.has(char));
    const text = `[${not}${hasBracket ? ']' : ''}${items.map((item) => item.text).join('')}]`;
    return { text, one: (char) => has(char) === (not === '') };
  });
const part = fc.oneof(
  char.map((text): Part => ({ text, one: (char) => char === text })),
  fc.constant<Part>({ text: '*', any: true }),
  fc.constant<Part>({ text: '?', one: () => true }),
  set,
);

test('a name matches as the parts of the pattern are defined', () => {
  const parts = fc.array(part, { maxLength: 7 });
  fc.assert(
    fc.property(parts, fc.array(char, { maxLength: 7 }), (parts, name) => {
      const text = parts.map((part) => part.text).join('');
      assert.equal(matchesName(parseName(text), name.join('')), isMatch(parts, name), `${name.join('')} by ${text}`);
    }),
    { numRuns: runs(20_000) },
  );
});

test('the text that a pattern was made of is found by it', () => {
  const made = fc.array(
    fc.tuple(fc.constantFrom('*', '?', '=', '[!\n]'), fc.array(char, { minLength: 1, maxLength: 3 })),
    { maxLength: 6 },
  );
  fc.assert(
    fc.property(made, (pieces) => {
      const name = pieces.map(([mark, chars]) => (mark === '*' ? chars.join('') : mark === '=' ? 'x' : '漢')).join('');
      const text = pieces.map(([mark]) => (mark === '=' ? 'x' : mark)).join('');
      assert.ok(matchesName(parseName(text), name), `${name} by ${text}`);
    }),
  );
});

const sets: [text: string, matched: string[], not: string[]][] = [
  ['[a-]', ['a', '-'], ['b']],
  ['[-a]', ['a', '-'], ['b']],
  ['[+--]', ['+', ',', '-'], ['.', '*']],
  ['[a-c-e]', ['b', '-', 'e'], ['d']],
  ['[]', ['[]'], [']', '']],
  ['[!]', ['[!]'], ['a']],
  ['[[]', ['['], ['[[]']],
  ['[\\]]', ['\\]'], [']', '\\']],
  ['a]', ['a]'], ['a']],
];
for (const [text, matched, not] of sets) {
  test(`${text} is read as shells read it`, () => {
    for (const name of matched) assert.ok(matchesName(parseName(text), name), name);
    for (const name of not) assert.ok(!matchesName(parseName(text), name), name);
  });
}

test('a range that runs backwards is refused with one clause', () => {
  assert.throws(() => parseName('x[c-a]'), /^RangeError: the range 'c-a' runs backwards$/);
});

test('no pattern takes more than a moment, however much of a name it nearly matches', () => {
  const name = 'a'.repeat(255);
  const patterns = [
    '*a*a*a*a*b.jpg',
    `${'*a'.repeat(2000)}b`,
    `*${'a'.repeat(127)}b`,
    `*${'?'.repeat(127)}b`,
    `${'*?'.repeat(120)}b`,
    `*${'[!b]'.repeat(127)}b`,
  ];
  const matchAll = () => {
    for (const pattern of patterns) assert.ok(!matchesName(parseName(pattern), name), pattern);
  };
  const square = parseName(`*${'?'.repeat(127)}b`);
  const matchSquare = () => {
    for (let i = 0; i < 1_000; i++) matchesName(square, name);
  };
  const times = timesAsLong(matchAll, matchSquare);
  assert.ok(times < 5, `${times} times as long as to compare each half of a name with each place of it 1,000 times`);
});

test('parsing a pattern takes no longer than reading it', () => {
  const texts = ['['.repeat(100_000), '[!'.repeat(50_000), '[]'.repeat(50_000), `${'['.repeat(100_000)}]`];
  const parseAll = (all: readonly string[]) => () => {
    for (let i = 0; i < 5; i++) for (const text of all) parseName(text);
  };
  const plain = texts.map((text) => 'a'.repeat(text.length));
  const times = timesAsLong(parseAll(texts), parseAll(plain));
  assert.ok(times < 50, `${times} times as long as plain text of the same length`);
});
