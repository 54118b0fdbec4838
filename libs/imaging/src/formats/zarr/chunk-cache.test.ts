import assert from 'node:assert/strict';
import { test } from 'node:test';
import { repeated } from '@halogrid/testing';
import fc from 'fast-check';
import { ChunkCache } from './chunk-cache.ts';

test('the cache gives each caller its chunk, never keeps more bytes than it may, and forgets all when nobody reads', async () => {
  const call = fc.record({
    key: fc.nat(5),
    bytes: fc.integer({ min: 1, max: 60 }),
    fate: fc.constantFrom('chunk', 'chunk', 'missing', 'failure'),
    waits: fc.boolean(),
  });
  const property = fc.asyncProperty(fc.array(call, { maxLength: 40 }), async (calls) => {
    const cache = new ChunkCache(100);
    cache.open();
    for (const { key, bytes, fate, waits } of calls) {
      const got = cache.get(String(key), async () => {
        if (fate === 'failure') throw new Error('damaged');
        return fate === 'missing' ? undefined : { data: new Uint8Array(bytes).fill(key), stride: [1] };
      });
      const outcome = got.then(
        (chunk) => assert.ok(!chunk || chunk.data.every((sample) => sample === key)),
        (error: Error) => assert.equal(error.message, 'damaged'),
      );
      if (waits) await outcome;
      assert.ok(cache.bytes <= 100, `${cache.bytes}`);
    }
    cache.close();
    assert.equal(cache.bytes, 0);
    let loads = 0;
    const load = async () => ({ data: new Uint8Array(++loads), stride: [1] });
    assert.equal(await cache.get('0', load), await cache.get('0', load));
    assert.equal(loads, 1);
  });
  await fc.assert(property, { numRuns: repeated(50) });
});
