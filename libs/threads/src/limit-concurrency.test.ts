import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { limitConcurrency } from './limit-concurrency.ts';

test('no more than the limit is under way, all work is done, in order, and a failure rejects only its own caller', async () => {
  const property = fc.asyncProperty(fc.integer({ min: 1, max: 5 }), fc.array(fc.nat(3)), async (count, turns) => {
    const limited = limitConcurrency(count);
    const begun: number[] = [];
    let underWay = 0;
    const results = await Promise.allSettled(
      turns.map((turn, i) =>
        limited(async () => {
          begun.push(i);
          assert.ok(++underWay <= count);
          for (let k = 0; k < turn; k++) await setImmediate();
          underWay--;
          if (turn === 3) throw new Error(`number ${i}`);
          return i;
        }),
      ),
    );
    assert.deepEqual(begun, [...turns.keys()]);
    for (const [i, result] of results.entries()) {
      if (turns[i] === 3) assert.equal(result.status === 'rejected' && result.reason.message, `number ${i}`);
      else assert.equal(result.status === 'fulfilled' && result.value, i);
    }
  });
  await fc.assert(property, { numRuns: 50 });
});
