import assert from 'node:assert/strict';
import test from 'node:test';
import { csv } from './render-table.ts';

test('cells with commas, quotes or line ends are quoted, missing ones empty', () => {
  const rows = [
    ['a,b', 1.5, undefined],
    ['say "x"', -2e-9, 'two\nlines'],
  ];
  assert.equal(csv(['name', 'ms', 'note'], rows), 'name,ms,note\r\n"a,b",1.5,\r\n"say ""x""",-2e-9,"two\nlines"\r\n');
});

test('a number that is not finite is refused', () => {
  assert.throws(() => csv(['ms'], [[0 / 0]]), /Expected a finite number in a CSV but received NaN/);
});
