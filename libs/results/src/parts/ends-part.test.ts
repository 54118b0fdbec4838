import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endsPart, type GrowingPart, partBounds } from './ends-part.ts';

test('a part ends at each of its bounds, and at once if nothing else is on its way', () => {
  const small: GrowingPart = { ageMs: 10, bytes: 1e6, shards: 2, isIdle: false };
  const table: [Partial<GrowingPart>, boolean][] = [
    [{}, false],
    [{ ageMs: 249.9 }, false],
    [{ ageMs: 250 }, true],
    [{ bytes: 2 ** 25 - 1 }, false],
    [{ bytes: 2 ** 25 }, true],
    [{ shards: 127 }, false],
    [{ shards: 128 }, true],
    [{ isIdle: true }, true],
    // A part without shards does not end.
    [{ shards: 0, isIdle: true }, false],
    [{ shards: 0, ageMs: 1000 }, false],
  ];
  for (const [part, ends] of table) assert.equal(endsPart({ ...small, ...part }), ends, JSON.stringify(part));
  assert.deepEqual(partBounds, { ageMs: 250, bytes: 2 ** 25, shards: 128 });
});
