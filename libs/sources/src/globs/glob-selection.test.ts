import assert from 'node:assert/strict';
import { matchesGlob } from 'node:path';
import { test } from 'node:test';
import { runs } from '@halogrid/testing';
import fc from 'fast-check';
import { timesAsLong } from '../testing/times-as-long.ts';
import { selectGlob } from './glob-selection.ts';
import type { Selection } from './selection.ts';

function matches(path: string, pattern: string): boolean {
  const names = path.split('/');
  const file = names.pop()!;
  let at: Selection | undefined = selectGlob(pattern);
  for (const name of names) at = at?.enter(name, false);
  return at?.takes(file) ?? false;
}

const table: [pattern: string, matched: string[], not: string[]][] = [
  ['*.png', ['a.png', 'a b.png'], ['.a.png', 'a.jpg', 'x/a.png', 'png']],
  ['.*', ['.a', '.png'], ['a']],
  ['a?.png', ['ab.png', 'a漢.png', 'a😀.png'], ['a.png', 'abc.png']],
  ['[a-c].png', ['a.png', 'c.png'], ['d.png', '-.png', 'A.png']],
  ['[!a-c].png', ['d.png'], ['a.png']],
  ['[]-].png', [']-.png'.slice(1), '].png'], ['a.png']],
  ['a+(b).$png', ['a+(b).$png'], ['ab.$png']],
  ['**/x.png', ['x.png', 'a/x.png', 'a/b/x.png'], ['.a/x.png', 'x.png/a']],
  ['**', ['x', 'a/x'], ['.x', 'a/.x', '.a/x']],
  ['a/**/b/*.png', ['a/b/1.png', 'a/x/b/1.png', 'a/b/b/1.png'], ['a/1.png', 'b/1.png']],
  ['{a,b/c}/*.{jpg,png}', ['a/1.jpg', 'b/c/1.png'], ['b/1.jpg', 'a/1.gif']],
  ['f{8..10}.jpg', ['f8.jpg', 'f10.jpg'], ['f08.jpg', 'f7.jpg', 'f{8..10}.jpg']],
  ['a[b', ['a[b'], ['ab']],
];
for (const [pattern, matched, not] of table) {
  test(`${pattern} matches what it should and nothing else`, () => {
    for (const path of matched) assert.ok(matches(path, pattern), path);
    for (const path of not) assert.ok(!matches(path, pattern), path);
  });
}

test('plain patterns match what Node says they match', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', '.', '-'), minLength: 1, maxLength: 3 });
  const name = word.filter((text) => !/^\.+$/.test(text));
  const part = fc.oneof(name, fc.constantFrom('*', '**', 'a*', '*b', '?', '??', '[ab]', '[!a]*', '*.*'));
  const path = fc.array(name, { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(path, fc.array(part, { minLength: 1, maxLength: 4 }), (names, parts) => {
      const [text, pattern] = [names.join('/'), parts.join('/')];
      assert.equal(matches(text, pattern), matchesGlob(text, pattern), `${text} by ${pattern}`);
    }),
    { numRuns: runs(3_000) },
  );
});

test('folders of any depth are found in a moment, however often a pattern asks for them', () => {
  const look = (folders: number, looks: number) => () => {
    const pattern = `${'**/a/'.repeat(folders)}${'**/'.repeat(folders)}b.png`;
    for (let i = 0; i < looks; i++) {
      assert.ok(matches(`${'a/'.repeat(1.2 * folders)}b.png`, pattern));
      assert.ok(!matches(`${'a/'.repeat(folders - 1)}b.png`, pattern));
    }
  };
  const times = timesAsLong(look(500, 1), look(100, 25));
  assert.ok(times < 20, `${times} times as long as 25 times a fifth`);
});

test('of thousands of names in braces, one is found as fast as of one', () => {
  const takeOf = (last: number) => {
    const selection = selectGlob(`x/frame{1..${last}}.jpg`).enter('x', false)!;
    return () => {
      for (let i = 1; i <= 20_000; i++) assert.equal(selection.takes(`frame${i}.jpg`), i <= last);
    };
  };
  const times = timesAsLong(takeOf(10_000), takeOf(1));
  assert.ok(times < 100, `${times} times as long`);
});

test('more patterns than can be compared with a name in time are refused with one sentence', () => {
  assert.throws(
    () => selectGlob('*{1..10000}'),
    /^RangeError: Expected at most 32768 characters in the alternatives with \*, \? or \[\]$/,
  );
});
