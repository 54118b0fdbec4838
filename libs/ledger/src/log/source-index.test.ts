import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SourceRuns } from '@halogrid/jobs/source-runs';
import { runs } from '@halogrid/testing';
import fc from 'fast-check';
import type { PlannedFact } from './fact.ts';
import { SourceIndex } from './source-index.ts';

const planned = (its: readonly number[], firstShard: number, shards: PlannedFact['shards']): PlannedFact => ({
  kind: 'planned',
  ...(its.length > 0 && {
    sources: {
      runs: [...SourceRuns.of(its).runs],
      block: new Uint8Array(),
      uri: '',
      folders: [],
      hasPreviews: false,
      isPlain: true,
    },
  }),
  firstShard,
  shards,
  isLast: false,
});

const frames = (first: number) => ({ first, work: { kind: 'frames' as const }, costBytes: 1 });

/**
 * Which of five blocks each source is in, which blocks have a shard, and whether the shard comes in a separate fact.
 */
const jobs = fc.record({
  blockOf: fc.array(fc.nat(4), { minLength: 1, maxLength: 24 }),
  order: fc.shuffledSubarray([0, 1, 2, 3, 4], { minLength: 5 }),
  shardOf: fc.array(fc.constantFrom('none', 'with it', 'later'), { minLength: 5, maxLength: 5 }),
  isRestored: fc.boolean(),
});

test('each source of any plan has its block, its index in the block, and its shard', () => {
  fc.assert(
    fc.property(jobs, ({ blockOf, order, shardOf, isRestored }) => {
      let index = new SourceIndex();
      const sourcesOf = (block: number): number[] => blockOf.flatMap((of, i) => (of === block ? [i] : []));
      const blocks = order.filter((block) => blockOf.includes(block));
      const facts: PlannedFact[] = [];
      const shards = new Map<number, number>();
      const factOf = new Map<number, number>();
      const later: (() => void)[] = [];
      let shard = 0;
      for (const block of blocks) {
        const its = sourcesOf(block);
        const own = frames(its[0]!);
        factOf.set(block, facts.length);
        if (shardOf[block] !== 'with it') facts.push(planned(its, shard, []));
        else {
          shards.set(block, shard);
          facts.push(planned(its, shard++, [own]));
        }
        if (shardOf[block] !== 'later') continue;
        later.push(() => {
          shards.set(block, shard);
          facts.push(planned([], shard++, [own]));
        });
      }
      for (const add of later) add();
      for (const [number, fact] of facts.entries()) {
        index.plan(fact);
        index.placePlanned({ epoch: 1, offset: 100 * number, length: 7 });
        if (isRestored) index = new SourceIndex(index.stored);
      }
      assert.deepEqual([index.sources, index.shards], [blockOf.length, shards.size]);
      for (const [source, block] of blockOf.entries()) {
        const nth = sourcesOf(block).indexOf(source);
        const end = blockOf.findIndex((other, i) => i > source && other !== block);
        const left = (end < 0 ? blockOf.length : end) - source;
        const { place, ...found } = index.planned(source)!;
        const shard = shards.get(block);
        assert.deepEqual(found, { nth, left, ...(shard !== undefined && { shard }) });
        assert.equal(place!.offset, 100 * factOf.get(block)!);
      }
      assert.equal(index.planned(blockOf.length), undefined);
      assert.deepEqual(
        [...index.plannedFacts()].map(({ firstShard, endShard }) => endShard - firstShard),
        facts.map((fact) => fact.shards.length),
      );
    }),
    { numRuns: runs(300) },
  );
});

test('a plan that does not follow the earlier plan is refused', () => {
  const index = new SourceIndex();
  const refused = (fact: PlannedFact, message: string): void => {
    assert.throws(() => index.plan(fact), { name: 'RangeError', message });
  };
  refused(planned([0], 1, []), 'Shard 1 was planned after 0');
  index.plan(planned([3, 4], 0, []));
  refused(planned([2, 3], 0, []), 'Source 2 is planned twice');
  refused(planned([4, 5], 0, []), 'Source 4 is planned twice');
  refused(planned([], 0, [frames(5)]), 'Shard 0 is of source 5, which is not planned');
});
