import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Best } from './best.ts';

test('the best of parts, merged, are the best of all, whatever the cut and the order', () => {
  const items = fc.array(fc.tuple(fc.nat({ max: 5 }), fc.nat({ max: 3 })), { maxLength: 60 });
  fc.assert(
    fc.property(
      items,
      fc.integer({ min: 1, max: 20 }),
      fc.infiniteStream(fc.nat({ max: 4 })),
      (values, size, parts) => {
        const all = values.map(([score, tie], i) => ({ score, tie, i }));
        const compare = (a: (typeof all)[0], b: (typeof all)[0]): number =>
          a.score - b.score || a.tie - b.tie || a.i - b.i;
        const bests = Array.from({ length: 5 }, () => new Best(size, compare));
        for (const item of all) bests[parts.next().value]!.offer(item);
        const merged = new Best(size, compare);
        for (const best of bests.toReversed()) for (const item of best.sorted()) merged.offer(item);
        assert.deepEqual(merged.sorted(), all.toSorted(compare).slice(0, size));
      },
    ),
  );
});

test('the worst that is kept is known once there is no room', () => {
  const best = new Best<number>(2, (a, b) => a - b);
  assert.equal(best.worst, undefined);
  assert.ok(best.offer(7) && best.offer(3));
  assert.equal(best.worst, 7);
  assert.equal(best.offer(7), false);
  assert.ok(best.offer(5));
  assert.equal(best.worst, 5);
});
