import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FoundList, unpackFound } from './found-list.ts';
import type { FoundFacts } from './found-shard.ts';

/** Objects as the code makes them. */
const plain = { noNullPrototype: true };

test('property: what was found of sources is unpacked as it was added, whenever some of it was taken', () => {
  const side = fc.integer({ min: 1, max: 2 ** 32 - 1 });
  const clock = fc.oneof(
    fc.record({ localMs: fc.integer() }, plain),
    fc.record({ localMs: fc.integer(), offsetMinutes: fc.integer({ min: -1080, max: 1080 }) }, plain),
  );
  const found: fc.Arbitrary<FoundFacts> = fc.record(
    {
      size: fc.record({ width: side, height: side }, plain),
      captured: fc.option(clock, { nil: undefined }),
      counted: fc.maxSafeNat(),
      digest: fc.uint8Array({ minLength: 32, maxLength: 32 }).map(Buffer.from),
    },
    plain,
  );
  fc.assert(
    fc.property(fc.array(fc.array(fc.option(found, { nil: undefined }))), (pieces) => {
      const list = new FoundList();
      for (const piece of pieces) {
        for (const one of piece) list.add(one);
        assert.deepEqual([...unpackFound(list.take())], piece);
      }
    }),
  );
});
