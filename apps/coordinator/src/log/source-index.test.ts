import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runs } from '@halogrid/testing';
import fc from 'fast-check';
import type { PlannedFact } from './fact.ts';
import { SourceIndex } from './source-index.ts';
import { SourceRuns } from '../job/source-runs.ts';

/** Which shard each source is of, in facts of some sources each. */
const jobs = fc.array(fc.array(fc.nat(3), { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 5 });

test('each source of any plan has its shard, its place in it, and its planned fact', () => {
  fc.assert(
    fc.property(jobs, fc.boolean(), (facts, isRestored) => {
      let index = new SourceIndex();
      const expected: [shard: number, nth: number, first: number][] = [];
      for (const [number, shardOf] of facts.entries()) {
        const first = index.sources;
        const firstShard = index.shards;
        const used = [...new Set(shardOf)];
        const shards = used.map((shard) => {
          const its = shardOf.flatMap((of, i) => (of === shard ? [first + i] : []));
          return { work: { kind: 'frames' as const, runs: [...SourceRuns.of(its).runs] }, costBytes: 1 };
        });
        for (const [i, of] of shardOf.entries()) {
          const nth = shardOf.slice(0, i).filter((other) => other === of).length;
          expected.push([firstShard + used.indexOf(of), nth, first]);
        }
        const planned = {
          kind: 'planned',
          first,
          sources: shardOf.length,
          block: new Uint8Array(),
          firstShard,
          shards,
        };
        index.plan({ ...planned, errors: [], cut: [], isLast: false } as PlannedFact);
        index.placePlanned({ epoch: 1, offset: 100 * number, length: 7 });
        if (isRestored) index = new SourceIndex(index.stored);
      }
      for (const [source, [shard, nth, first]] of expected.entries()) {
        const frame = index.frame(source)!;
        assert.deepEqual([frame.shard, frame.nth], [shard, nth]);
        const next = expected
          .slice(source)
          .findIndex(([other], i) => other !== shard || expected[source + i]![2] !== first);
        assert.equal(frame.left, next < 0 ? expected.length - source : next);
        const planned = index.planned(source)!;
        assert.equal(planned.first, first);
        assert.equal(planned.place!.length, 7);
      }
      assert.equal(index.frame(expected.length), undefined);
      assert.equal(index.planned(expected.length), undefined);
      const ends = [...index.plannedFacts()].map(({ firstShard, endShard }) => endShard - firstShard);
      assert.deepEqual(
        ends,
        facts.map((shardOf) => new Set(shardOf).size),
      );
    }),
    { numRuns: runs(300) },
  );
});

test('a plan that does not follow what was planned is refused', () => {
  const index = new SourceIndex();
  const planned = { kind: 'planned', first: 1, sources: 1, block: new Uint8Array(), firstShard: 0, shards: [] };
  assert.throws(() => index.plan({ ...planned, errors: [], cut: [], isLast: false } as PlannedFact), {
    name: 'RangeError',
    message: 'Source 1 and shard 0 were planned after 0 and 0',
  });
});
