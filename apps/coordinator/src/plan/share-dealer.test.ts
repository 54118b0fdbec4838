import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Shard, ShardWork } from '@halogrid/jobs/shard';
import { plannedSources } from '@halogrid/jobs/testing-planned';
import fc from 'fast-check';
import { sharedBatchFrames } from './plan-emitter.ts';
import { ShareDealer } from './share-dealer.ts';

/** Images, each of some tiles or in a batch by itself, with the bytes of each shard. */
const images = fc.array(fc.array(fc.integer({ min: 1, max: 1000 }), { minLength: 1, maxLength: 4 }), { maxLength: 40 });
const shares = fc.integer({ min: 1, max: 9 });

function shardsOf(costs: readonly number[][]): Shard[] {
  const size = { width: 9, height: 9 };
  const works = costs.flatMap((tiles, index) => {
    const sources = plannedSources([{ index, uri: `file:///${index}` }]);
    const tile: ShardWork = { kind: 'tile', sources, size, rect: { x: 0, y: 0, ...size } };
    return tiles.map((costBytes) => ({
      costBytes,
      work: tiles.length > 1 ? tile : { kind: 'frames' as const, sources },
    }));
  });
  return works.map((its, shard) => ({ shard, ...its }));
}

function deal(shards: readonly Shard[], of: number, splitImages: boolean): Shard[][] {
  return Array.from({ length: of }, (_, i) => {
    const dealer = new ShareDealer({ number: i + 1, of, splitImages });
    return shards.map((shard) => dealer.deal(shard)).filter(({ elsewhere }) => !elsewhere);
  });
}

const bytesOf = (shards: readonly Shard[]): number => shards.reduce((sum, { costBytes }) => sum + costBytes, 0);

test('each shard goes to one share, unchanged', () => {
  fc.assert(
    fc.property(images, shares, fc.boolean(), (costs, of, splitImages) => {
      const shards = shardsOf(costs);
      const dealt = deal(shards, of, splitImages).flat();
      assert.deepEqual(
        dealt.sort((a, b) => a.shard - b.shard),
        shards,
      );
    }),
  );
});

test('no share has more bytes than another by more than the largest piece', () => {
  fc.assert(
    fc.property(images, shares, fc.boolean(), (costs, of, splitImages) => {
      const bytes = deal(shardsOf(costs), of, splitImages).map(bytesOf);
      const pieces = splitImages ? costs.flat() : costs.map((tiles) => tiles.reduce((sum, cost) => sum + cost, 0));
      assert.ok(Math.max(...bytes) - Math.min(...bytes) <= Math.max(0, ...pieces));
    }),
  );
});

test('the tiles of an image stay together, unless images are split', () => {
  fc.assert(
    fc.property(images, shares, (costs, of) => {
      const images = deal(shardsOf(costs), of, false).map(
        (shards) => new Set(shards.map(({ work }) => work.sources.uri)),
      );
      assert.equal(
        images.reduce((sum, { size }) => sum + size, 0),
        costs.length,
      );
    }),
  );
  const [first, second] = deal(shardsOf([[5, 5]]), 2, true);
  assert.deepEqual([first!.length, second!.length], [1, 1]);
});

test('batches of a shared plan are small beside the frames before them', () => {
  let before = 0;
  for (let batch = 0; batch < 20_000; batch++) {
    const frames = sharedBatchFrames(batch);
    assert.ok(frames <= 1 + before / 799 && frames <= 2048, `batch ${batch}`);
    before += frames;
  }
  assert.ok(before > 10_000_000, 'ten million images are some ten thousand shards');
});
