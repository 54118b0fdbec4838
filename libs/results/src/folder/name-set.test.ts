import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runs } from '@halogrid/testing';
import fc from 'fast-check';
import { NameSet } from './name-set.ts';

test('any name is free once', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary' })), (names) => {
      const taken = new NameSet();
      const known = new Set<string>();
      for (const name of names) {
        const lower = name.toLowerCase();
        assert.equal(taken.take(name), !known.has(lower) && known.add(lower) !== undefined);
      }
    }),
    { numRuns: runs(300) },
  );
});

test('each of 200,000 similar, numbered names is free once, however the set grows', () => {
  const taken = new NameSet();
  const names = Array.from({ length: 200_000 }, (_, i) => `cam-7-frame-${String(i).padStart(8, '0')}`);
  assert.deepEqual(
    names.filter((name) => !taken.take(name)),
    [],
  );
  assert.deepEqual(
    names.filter((name) => taken.take(name)),
    [],
  );
});
