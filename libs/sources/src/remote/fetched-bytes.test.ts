import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { withFetchedBytes } from './fetched-bytes.ts';

test('at no time more bytes of a place are in memory than allowed, and all are fetched, also after failures', async () => {
  const part = fc.record({
    place: fc.constantFrom('http://a', 's3://b'),
    bytes: fc.integer({ min: 1, max: 12 }),
    turns: fc.nat(4),
    fails: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(part, { maxLength: 20 }), async (parts) => {
      const held = new Map<string, number>();
      const add = (place: string, bytes: number): number => {
        held.set(place, (held.get(place) ?? 0) + bytes);
        return held.get(place)!;
      };
      const ends = await Promise.allSettled(
        parts.map(({ place, bytes, turns, fails }) =>
          withFetchedBytes(
            place,
            bytes,
            async () => {
              // A part of more than the limit is alone.
              assert.ok(add(place, bytes) <= Math.max(10, bytes));
              for (let turn = 0; turn < turns; turn++) await undefined;
              add(place, -bytes);
              if (fails) throw new Error('cut off');
            },
            10,
          ),
        ),
      );
      assert.deepEqual(
        ends.map(({ status }) => status),
        parts.map(({ fails }) => (fails ? 'rejected' : 'fulfilled')),
      );
    }),
  );
});

test('a place that does not answer holds up no other', async () => {
  let answer = () => {};
  const hanging = withFetchedBytes('http://silent', 10, () => new Promise((resolve) => (answer = resolve)), 10);
  const behind = withFetchedBytes('http://silent', 1, async () => {}, 10);
  await withFetchedBytes('http://other', 10, async () => {}, 10);
  answer();
  await Promise.all([hanging, behind]);
});
