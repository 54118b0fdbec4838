import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseEncoding } from './choose-encoding.ts';

for (const [header, encoding] of [
  [undefined, undefined],
  ['', undefined],
  ['identity', undefined],
  ['deflate', undefined],
  ['gzip', 'gzip'],
  ['gzip, deflate, br', 'br'],
  ['gzip;q=1.0, br;q=0.5', 'gzip'],
  ['br;q=0, gzip;q=0', undefined],
  ['br;q=0, *', 'gzip'],
  ['*', 'br'],
  ['*;q=0', undefined],
  ['GZIP', 'gzip'],
  ['gzip;q=none', undefined],
] as const) {
  test(`Accept-Encoding: ${header} takes ${encoding ?? 'nothing'}`, () => {
    assert.equal(chooseEncoding(header), encoding);
  });
}
