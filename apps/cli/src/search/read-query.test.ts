import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseQuery } from './read-query.ts';

const table: [string, object][] = [
  ['row:17', { kind: 'row', row: 17 }],
  ['cam 1.mp4#250', { kind: 'frame', uri: 'file:///archive/cam%201.mp4', frame: 250 }],
  ['https://host/a.jpg#0', { kind: 'frame', uri: 'https://host/a.jpg', frame: 0 }],
  ['a.jpg', { kind: 'image', uri: 'file:///archive/a.jpg' }],
  // A name may look like the other kinds.
  ['./row:17', { kind: 'image', uri: 'file:///archive/row:17' }],
  ['a#b.jpg', { kind: 'image', uri: 'file:///archive/a%23b.jpg' }],
];

for (const [text, query] of table) {
  test(`the query '${text}'`, () => assert.deepEqual(parseQuery(text, '/archive'), { text, ...query }));
}

test('a text that is not a query is refused', () => {
  assert.throws(
    () => parseQuery('', '/archive'),
    /^UsageError: Expected an image, PATH#FRAME or row:N but received ''$/,
  );
  assert.throws(() => parseQuery('ftp://host/a.jpg', '/archive'), /^UsageError: .*ftp:/);
});
