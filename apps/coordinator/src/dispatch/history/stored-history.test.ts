import assert from 'node:assert/strict';
import { test } from 'node:test';
import { turns } from '@halogrid/testing';
import fc from 'fast-check';
import { HistoryKeeper } from './history-keeper.ts';
import { JobHistories } from './job-histories.ts';
import { JobHistory } from './job-history.ts';
import { readHistory, writeHistory } from './stored-history.ts';

interface Step {
  node: string;
  heldMs: number;
  pixels: number;
  pauseMs: number;
}

/** Merges shards one after another from `nowMs` on; returns the time of the last. */
function work(history: JobHistory, steps: readonly Step[], nowMs: number): number {
  let at = nowMs;
  for (const [shard, { node, heldMs, pixels, pauseMs }] of steps.entries()) {
    const leasedAtMs = at + pauseMs;
    at = leasedAtMs + heldMs;
    history.leased(pauseMs);
    history.merged({
      ...{ node, shard, attempt: 1, leasedAtMs, answeredMs: at, mergedMs: at, pixels, spans: [] },
      ...{ stageSeconds: { decode: heldMs / 2000 }, mergeSeconds: 0.001 },
    });
  }
  return at;
}

const steps = fc.array(
  fc.record({
    node: fc.nat(130).map((i) => `n${i}`),
    heldMs: fc.nat(40_000),
    pixels: fc.nat(1e9),
    pauseMs: fc.nat(5_000),
  }),
  { maxLength: 200 },
);
const total = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0);

test('a history that another leader goes on with has all that both saw', () => {
  fc.assert(
    fc.property(steps, steps, fc.nat(3_600_000), (before, after, awayMs) => {
      const [first, whole] = [new JobHistory(1_000, 5_000_000), new JobHistory(1_000, 5_000_000)];
      const leftMs = work(first, before, 1_000);
      work(whole, after, work(whole, before, 1_000) + awayMs);
      const text = writeHistory(first.store(leftMs));
      assert.ok(text.length < 64_000, `${text.length} bytes are kept`);
      // The next leader has another clock.
      const next = JobHistory.from(readHistory(text)!, 77, 5_000_000 + (leftMs - 1_000) + awayMs);
      const endMs = work(next, after, 77);
      const shown = next.view(endMs);
      const expected = whole.view(leftMs + awayMs + (endMs - 77));
      assert.deepEqual([shown.sinceMs, shown.elapsedMs], [expected.sinceMs, expected.elapsedMs]);
      const pixels = ({ pixelsPerSecond, widthMs }: typeof shown) => (total(pixelsPerSecond) * widthMs) / 1000;
      assert.ok(Math.abs(pixels(shown) - pixels(expected)) <= 500, 'each bucket is rounded to a pixel');
      assert.deepEqual(shown.stages, expected.stages);
      assert.deepEqual(
        shown.lanes.map(({ node, shards, pixels }) => [node, shards, pixels]),
        expected.lanes.map(({ node, shards, pixels }) => [node, shards, pixels]),
      );
      assert.equal(shown.nodesWithoutLane, expected.nodesWithoutLane);
    }),
    { numRuns: 30 },
  );
});

test('a clock that was set back does not let the past overlap', () => {
  const first = new JobHistory(0, 5_000_000);
  const leftMs = work(first, [{ node: 'a', heldMs: 1_000, pixels: 9, pauseMs: 0 }], 0);
  const next = JobHistory.from(first.store(leftMs), 100, 4_000_000);
  assert.equal(next.view(100).elapsedMs, leftMs);
});

test('a damaged history, or one of another version, is not shown', () => {
  const text = writeHistory(new JobHistory(0, 0).store(1));
  assert.ok(readHistory(text));
  for (const wrong of ['', 'x', text.slice(2), text.slice(0, -8)]) assert.equal(readHistory(wrong), undefined, wrong);
});

test('histories are kept twice a minute if something happened, and failures of the ledger are left to it', async () => {
  const kept: string[][] = [];
  let failure: Error | undefined;
  const ledger = {
    history: async () => undefined,
    keepHistories: async (histories: ReadonlyMap<string, string>) => {
      kept.push([...histories.keys()]);
      if (failure) throw failure;
    },
  };
  let nowMs = 0;
  const clock = { monotonicMs: () => nowMs, wallMs: () => nowMs };
  const histories = new JobHistories();
  const keeper = new HistoryKeeper({ histories, ledger, clock });
  histories.begin('a', 0, 0);
  histories.begin('b', 0, 0);
  const passes = async (ms: number) => {
    nowMs += ms;
    keeper.tick();
    await turns(3);
  };
  await passes(29_999);
  assert.deepEqual(kept, []);
  failure = new Error('The database is away');
  await passes(1);
  failure = undefined;
  histories.get('b')!.leased(5);
  await passes(30_000);
  await passes(30_000);
  assert.deepEqual(kept, [['a', 'b'], ['b']]);
  await keeper.keep(new Map([['a', histories.end('a', nowMs)!]]));
  assert.deepEqual(kept.at(-1), ['a']);
  assert.equal(await keeper.view('a'), undefined);
});

test('what is kept of an ended job is what was seen of it, as long as it was', async () => {
  const texts = new Map<string, string>();
  const ledger = {
    history: async (jobId: string) => texts.get(jobId),
    keepHistories: async (histories: ReadonlyMap<string, string>) => {
      for (const [jobId, text] of histories) texts.set(jobId, text);
    },
  };
  await fc.assert(
    fc.asyncProperty(steps, fc.nat(100_000), async (worked, restMs) => {
      const histories = new JobHistories();
      const clock = { monotonicMs: () => 0, wallMs: () => 0 };
      const keeper = new HistoryKeeper({ histories, ledger, clock });
      histories.begin('a', 1_000, 5_000_000);
      const endMs = work(histories.get('a')!, worked, 1_000) + restMs;
      await keeper.keep(new Map([['a', histories.end('a', endMs)!]]));
      const [kept, seen] = [(await keeper.view('a'))!, histories.view('a', endMs)!];
      assert.deepEqual([kept.sinceMs, kept.elapsedMs], [seen.sinceMs, seen.elapsedMs]);
    }),
  );
});
