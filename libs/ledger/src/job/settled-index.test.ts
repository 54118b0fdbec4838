import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { isKept, type PlanStep, type ShardWork } from '@halogrid/jobs/shard';
import { plannedSources } from '@halogrid/jobs/testing-planned';
import { SourceBlock } from '@halogrid/sources/source-block';
import { memoryFolder, repeated } from '@halogrid/testing';
import fc from 'fast-check';
import { MemoryRegistry } from '../registry/memory-registry.ts';
import { binsOf, commitOf, jobId, planOf, shardsOf, spec } from '../testing/ledger-scene.ts';
import { settledSources, shapesOf } from '../testing/memory-parts.ts';
import { openLogLedger } from '../testing/open-log-ledger.ts';

const folder = await mkdtemp(join(memoryFolder, 'halogrid-settled-'));
after(() => rm(folder, { recursive: true, force: true }));

const size = { width: 2, height: 3 };
const rect = { x: 0, y: 0, ...size };
const shapes = shapesOf(spec);

/** `kept` sources from index `from` on, in shards of two, whose results an earlier job had. */
function keptSteps(from: number, kept: number, firstShard: number): PlanStep[] {
  const each = Array.from({ length: kept }, (_, nth) => ({ index: from + nth, uri: `file:///in/${from + nth}`, size }));
  return Array.from({ length: Math.ceil(kept / 2) }, (_, nth): PlanStep[] => {
    const told = each.slice(2 * nth, 2 * nth + 2).map((source) => ({ ...source, kept: 'then' }));
    const sources = plannedSources(told);
    const work: ShardWork = { kind: 'kept', sources, earlier: [2 * nth, 2 * nth, told.length] };
    return [
      { kind: 'sources', sources },
      { kind: 'shard', shard: { shard: firstShard + nth, work, costBytes: 0 } },
    ];
  }).flat();
}

test('settled sources are listed once and in order by any leader, for any shards, tiles and errors', async () => {
  const cut = fc.record({
    frames: fc.integer({ min: 1, max: 30 }),
    shardFrames: fc.integer({ min: 1, max: 12 }),
    tilePx: fc.constantFrom(2, 3),
    unread: fc.uniqueArray(fc.nat(29), { maxLength: 3 }),
    broken: fc.uniqueArray(fc.nat(29), { maxLength: 4 }),
    kept: fc.nat(6),
    atMost: fc.integer({ min: 1, max: 50 }),
    isTakenOver: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(cut, async ({ frames, shardFrames, tilePx, unread, broken, kept, atMost, isTakenOver }) => {
      const own = await mkdtemp(join(folder, 'job-'));
      const registry = new MemoryRegistry();
      let ledger = await openLogLedger(own, registry);
      await ledger.createJob({ jobId, spec, submittedMs: 1 });
      const sizes = Array.from({ length: frames }, () => size);
      const steps = planOf(sizes, tilePx, shardFrames, new Set(unread));
      steps.push(...keptSteps(frames, kept, shardsOf(steps).length));
      await ledger.addPlan(jobId, steps, true);
      for (const shard of shardsOf(steps).toReversed()) {
        const { node, ...answer } = commitOf(shard, steps, new Set(isKept(shard) ? [] : broken));
        await ledger.commit({ ...answer, ...(!isKept(shard) && { node }), mended: [], epoch: ledger.epoch });
      }
      if (isTakenOver) {
        await ledger.close();
        ledger = await openLogLedger(own, registry);
        await ledger.resume(jobId);
      }
      await ledger.results(jobId);
      const told = [];
      for (let from = 0; ; ) {
        const settled = await ledger.settled(jobId, from, atMost);
        assert.ok(settled.next - from <= atMost);
        for (const run of settled.runs) {
          if (run.kind !== 'found') continue;
          const { file, offset, length, nth } = run.planned;
          const block = new SourceBlock((await readFile(file)).subarray(offset, offset + length));
          assert.deepEqual(
            [block.index(nth), block.index(nth + run.count - 1)],
            [run.first, run.first + run.count - 1],
          );
        }
        told.push(...settledSources(settled, shapes));
        if (settled.next === from) break;
        from = settled.next;
      }
      const bad = (index: number): boolean => index < frames && (unread.includes(index) || broken.includes(index));
      assert.deepEqual(
        told.map((source) => [source.index, source.uri, source.state === 'done' ? source.bins : source.state]),
        Array.from({ length: frames + kept }, (_, index) => {
          return [index, `file:///in/${index}`, bad(index) ? 'quarantined' : binsOf(index, rect)];
        }),
      );
      const { counts } = (await ledger.getJob(jobId))!;
      assert.equal(counts.kept ?? 0, kept);
      await ledger.close();
    }),
    { numRuns: repeated(15, 100) },
  );
});
