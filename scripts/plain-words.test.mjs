import assert from 'node:assert/strict';
import { test } from 'node:test';
import { columns, findWords } from './plain-words.mjs';

const words = (text, isCode = true) => findWords(text, isCode).map(({ word }) => word);

const table = [
  ['// Whoever calls this, of which there are two, begins anew.', ['Whoever', 'of which', 'anew']],
  ['The rows are those of the frame.', ['those of']],
  ['is no file, is no longer a file, there is no file, is no other file', ['is no file']],
  ['as ever, but not as everyone', ['as ever']],
  ['waits so long, not so long as that', ['so long']],
  ['null where there is none', ['where there is none']],
  ['looks otherwise; otherwise it waits', ['looks otherwise']],
  ['/** Of a tile, its number. */', ['Of']],
  ['  // It ends. Of two, the first.', ['Of']],
  ['Of course it ends.', []],
  ['A part of the tile.', []],
];
for (const [text, expected] of table) test(text, () => assert.deepEqual(words(text), expected));

test('names the line, and only comments of code are too wide', () => {
  const wide = `// ${'x'.repeat(columns)}`;
  assert.deepEqual(findWords(`a\n${wide}`), [{ line: 2, word: `${wide.length} columns`, say: `${columns}` }]);
  for (const [text, isCode] of [
    [wide.slice(0, columns), true],
    [wide, false],
    [`const a = '${'x'.repeat(columns)}';`, true],
  ]) {
    assert.deepEqual(words(text, isCode), []);
  }
});
