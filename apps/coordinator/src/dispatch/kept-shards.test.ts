import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KeptShard } from '@halogrid/jobs/shard';
import { plannedSources } from '@halogrid/jobs/testing-planned';
import type { FoundInPart } from '@halogrid/results/part-writer';
import { KeptShards } from './kept-shards.ts';

const shardOf = (shard: number): KeptShard => {
  const sources = plannedSources([{ index: shard, uri: `file:///${shard}`, kept: 'then' }]);
  return { shard, work: { kind: 'kept', sources, earlier: [shard, shard, 1] }, costBytes: 0 };
};

/** Reads `most` shards at a time; each is found in the part of its number. */
function stage(most: number) {
  const batches: { shards: number[]; end: PromiseWithResolvers<void> }[] = [];
  let told = 0;
  const kept = new KeptShards(
    async (shards) => {
      const some = shards.slice(0, most);
      const end = Promise.withResolvers<void>();
      batches.push({ shards: some.map(({ shard }) => shard), end });
      await end.promise;
      return some.map(({ shard }) => ({ part: String(shard) }) as FoundInPart);
    },
    () => told++,
  );
  return { kept, batches, told: () => told };
}

test('shards that are planned while a batch is read make the next batch, and each shard gets its own result', async () => {
  const { kept, batches, told } = stage(3);
  const found = [0, 1].map((shard) => kept.add(shardOf(shard)));
  await Promise.resolve();
  found.push(...[2, 3, 4, 5].map((shard) => kept.add(shardOf(shard))));
  assert.deepEqual([batches.map(({ shards }) => shards), kept.sources, told()], [[[0, 1]], 6, 0]);
  batches[0]!.end.resolve();
  assert.deepEqual(
    (await Promise.all(found.slice(0, 2))).map(({ part }) => part),
    ['0', '1'],
  );
  assert.deepEqual([batches[1]!.shards, kept.sources, told()], [[2, 3, 4], 4, 1]);
  batches[1]!.end.resolve();
  await found[4];
  batches[2]!.end.resolve();
  assert.equal((await found[5]!).part, '5');
  await kept.end();
  assert.deepEqual([batches.length, kept.sources, told()], [3, 0, 3]);
});

test('if a batch cannot be read, all waiting shards are rejected, and new ones can be added', async () => {
  const { kept, batches } = stage(1);
  const failed = [0, 1].map((shard) => assert.rejects(kept.add(shardOf(shard)), /^Error: It has changed$/));
  await Promise.resolve();
  batches[0]!.end.reject(new Error('It has changed'));
  await Promise.all(failed);
  await kept.end();
  const again = kept.add(shardOf(2));
  await Promise.resolve();
  batches[1]!.end.resolve();
  assert.equal((await again).part, '2');
});
