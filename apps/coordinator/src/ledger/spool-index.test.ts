import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SpoolIndex } from './spool-index.ts';

const placeOf = (source: number) => ({ offset: 2 ** 40 + source, length: source + 1, checksum: 2 ** 32 - 1 - source });

test('entries stay as the index grows, by one or by a leap', () => {
  const index = new SpoolIndex();
  const sources = [0, 1023, 1024, 5000, 2, 1_000_000];
  for (const source of sources) index.set(source, placeOf(source));
  for (const source of sources) assert.deepEqual(index.get(source), placeOf(source));
  for (const source of [1, 999_999, 5_000_000]) assert.throws(() => index.get(source), /no histograms of source/);
});
