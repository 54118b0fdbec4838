import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatOfName } from './formats.ts';
import { folderHolding, splitPart } from './part-uri.ts';
import { isRowUri, rowUri, splitRow } from './row-uri.ts';

// Pure: milliseconds.

const file = 'file:///data/train.parquet';

test('a URI of a row says its file, column, number and path, whatever characters these have', () => {
  const names = fc.string({ unit: 'grapheme', minLength: 1 });
  const paths = fc
    .array(names, { minLength: 1 })
    .map((parts) => parts.map((part) => part.replaceAll('/', '_')).join('/'));
  const row = fc.nat({ max: 10 ** 12 });
  fc.assert(
    fc.property(names, row, fc.option(paths, { nil: undefined }), (column, row, path) => {
      const part = path === undefined ? { column, row } : { column, row, path };
      const uri = rowUri(file, part);
      assert.deepEqual(splitRow(uri), { file, row: part });
      assert.deepEqual(splitPart(uri), [file, uri.slice(file.length)]);
    }),
  );
});

test('the end of a URI of a row tells the format if its path does', () => {
  const uri = rowUri(file, { column: 'image.bytes', row: 12, path: 'cats/001.jpg' });
  assert.equal(uri, `${file}#image.bytes/cats/001@12.jpg`);
  assert.equal(formatOfName(uri), 'jpeg');
  const bare = rowUri(file, { column: 'image.bytes', row: 12 });
  assert.equal(bare, `${file}#image.bytes/12`);
  assert.equal(formatOfName(bare), undefined);
  assert.equal(folderHolding(uri), 'file:///data');
});

test('other URIs have no row', () => {
  for (const uri of [file, `${file}#image`, `${file}#image/x`, 'file:///a.csv#image/1', 'file:///a.tar#/b@1+2.jpg'])
    assert.ok(!isRowUri(uri), uri);
});
