import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { turns } from '@halogrid/testing';
import fc from 'fast-check';
import { Places } from './places.ts';

test('no more callers are in than there are places, callers enter in order, and those that gave up are skipped', async () => {
  const visit = fc.record({ stays: fc.nat(4), givesUp: fc.boolean() });
  const property = fc.asyncProperty(
    fc.integer({ min: 1, max: 3 }),
    fc.array(visit, { maxLength: 12 }),
    async (count, visits) => {
      const places = new Places(count);
      const entered: number[] = [];
      const gone: number[] = [];
      let inside = 0;
      const come = async ({ stays, givesUp }: { stays: number; givesUp: boolean }, i: number): Promise<void> => {
        const controller = new AbortController();
        if (givesUp) setImmediate(() => controller.abort(i));
        let leave: () => void;
        try {
          leave = await places.enter(controller.signal);
        } catch (reason) {
          assert.equal(reason, i);
          gone.push(i);
          return;
        }
        entered.push(i);
        assert.ok(++inside <= count);
        await turns(stays);
        inside--;
        leave();
      };
      await Promise.all(visits.map(come));
      assert.deepEqual(
        entered,
        entered.toSorted((a, b) => a - b),
      );
      assert.equal(entered.length + gone.length, visits.length);
      assert.ok(gone.every((i) => visits[i]!.givesUp));
      await Promise.all(Array.from({ length: count }, () => places.enter()));
    },
  );
  await fc.assert(property, { numRuns: 50 });
});

test('a caller that has already given up takes no place', async () => {
  const places = new Places(1);
  await assert.rejects(places.enter(AbortSignal.abort('gone')), (reason) => reason === 'gone');
  await places.enter();
});

test('after waiting, the listener is removed from the signal', async () => {
  const places = new Places(1);
  const { signal } = new AbortController();
  const leave = await places.enter();
  const second = places.enter(signal);
  leave();
  (await second)();
  assert.deepEqual(getEventListeners(signal, 'abort'), []);
});
