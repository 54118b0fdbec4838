import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Activity, activities, BusyClock, BusyClocks } from './busy-clock.ts';

test('what overlaps counts once, and what is under way counts as far as it is', () => {
  let ms = 0;
  const clock = new BusyClock(() => ms);
  clock.begin('decode');
  ms = 1000;
  clock.begin('decode');
  clock.begin('shard');
  ms = 3000;
  clock.end('decode');
  assert.deepEqual(clock.take(), { read: 0, decode: 3, device: 0, encode: 0, shard: 2 });
  ms = 4000;
  clock.end('decode');
  clock.add('device', 0.25);
  ms = 9000;
  clock.end('shard');
  assert.deepEqual(clock.take(), { read: 0, decode: 1, device: 0.25, encode: 0, shard: 6 });
  assert.ok(clock.isIdle);
});

test('whenever it is asked, the sum is the length of the union', () => {
  const span = fc.record({
    activity: fc.constantFrom(...activities),
    from: fc.nat(50),
    length: fc.integer({ min: 1, max: 20 }),
  });
  fc.assert(
    fc.property(fc.array(span), fc.uniqueArray(fc.nat(70)), (spans, asked) => {
      let ms = 0;
      const clock = new BusyClock(() => ms * 1000);
      const sums: Record<Activity, number> = { read: 0, decode: 0, device: 0, encode: 0, shard: 0 };
      const union: Record<Activity, number> = { ...sums };
      for (ms = 0; ms <= 70; ms++) {
        for (const { activity, from, length } of spans) {
          if (from === ms) clock.begin(activity);
          if (from + length === ms) clock.end(activity);
        }
        if (asked.includes(ms) || ms === 70) {
          const taken = clock.take();
          for (const activity of activities) sums[activity] += taken[activity];
        }
        for (const activity of activities) {
          const isUnderWay = spans.some(
            (one) => one.activity === activity && one.from <= ms && ms < one.from + one.length,
          );
          if (isUnderWay) union[activity]++;
        }
      }
      assert.deepEqual(sums, union);
    }),
  );
});

test('jobs have clocks of their own, and one whose last shard failed leaves nothing', async () => {
  let ms = 0;
  const clocks = new BusyClocks(() => ms);
  const both = await clocks.during('a', async (a) => {
    ms += 1000;
    return clocks.during('b', async (b) => {
      ms += 2000;
      return [a.take().shard, b.take().shard];
    });
  });
  assert.deepEqual(both, [3, 2]);
  const failed = clocks.during('a', async () => {
    ms += 5000;
    throw new Error('The device was lost');
  });
  await assert.rejects(failed, /lost/);
  assert.equal(await clocks.during('a', async (clock) => clock.take().shard), 0);
});
