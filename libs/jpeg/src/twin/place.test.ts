import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ChunkCounts } from './decode-chunk.ts';
import { addCounts, placeChunks } from './place.ts';

const counts: fc.Arbitrary<ChunkCounts> = fc.record({
  restarts: fc.constantFrom(0, 0, 1, 2),
  blocks: fc.nat(256),
  dc: fc.integer(),
  entries: fc.nat(300),
});

test('counts may be added in any grouping, as workgroups do it', () => {
  fc.assert(
    fc.property(counts, counts, counts, (a, b, c) => {
      assert.deepEqual(addCounts(addCounts(a, b), c), addCounts(a, addCounts(b, c)));
    }),
  );
});

test('blocks and DC restart at a restart marker, and entries go on', () => {
  const places = placeChunks([
    { restarts: 0, blocks: 5, dc: 10, entries: 20 },
    { restarts: 0, blocks: 2, dc: -30, entries: 7 },
    { restarts: 2, blocks: 1, dc: 4, entries: 9 },
    { restarts: 0, blocks: 3, dc: 1, entries: 1 },
    { restarts: 0, blocks: 0, dc: 0, entries: 0 },
  ]);
  assert.deepEqual(places, [
    { restarts: 0, blocks: 0, dc: 0, entries: 0 },
    { restarts: 0, blocks: 5, dc: 10, entries: 20 },
    { restarts: 0, blocks: 7, dc: -20, entries: 27 },
    { restarts: 2, blocks: 1, dc: 4, entries: 36 },
    { restarts: 2, blocks: 4, dc: 5, entries: 37 },
  ]);
});
