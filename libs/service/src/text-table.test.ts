import assert from 'node:assert/strict';
import { test } from 'node:test';
import { table } from './text-table.ts';

test('columns are as wide as their widest cell and lines end with text', () => {
  assert.equal(
    table(
      [
        ['a', 'bb', 'c'],
        ['aaa', 'b', ''],
      ],
      '  ',
    ),
    '  a    bb  c\n  aaa  b\n',
  );
});

test('no rows are no lines', () => assert.equal(table([]), ''));
