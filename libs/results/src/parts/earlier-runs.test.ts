import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { addEarlier } from './earlier-runs.ts';

test('runs give the same places, and consecutive sources are one run', () => {
  const places = fc.array(fc.record({ source: fc.nat(9) }), { maxLength: 20 });
  fc.assert(
    fc.property(places, (given) => {
      // All sources are done here, so there are as many done sources before a source as there are sources.
      const told = given.map(({ source }) => ({ source, doneBefore: source }));
      const runs: number[] = [];
      for (const place of told) addEarlier(runs, place);
      const read = [];
      for (let i = 0; i < runs.length; i += 3) {
        for (let nth = 0; nth < runs[i + 2]!; nth++)
          read.push({ source: runs[i]! + nth, doneBefore: runs[i + 1]! + nth });
      }
      assert.deepEqual(read, told);
      const breaks = told.filter(({ source }, i) => source !== (told[i - 1]?.source ?? -2) + 1).length;
      assert.equal(runs.length, 3 * breaks);
    }),
  );
});
