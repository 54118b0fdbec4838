import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runs } from '@halogrid/testing';
import fc from 'fast-check';
import type { Fact } from './fact.ts';
import { packFact, readFact } from './fact-codec.ts';

const bytes = fc.uint8Array({ maxLength: 20 });
const facts = fc.record({
  sums: bytes,
  text: fc.string(),
  parts: fc.array(fc.record({ stored: fc.oneof(bytes, bytes.map(Buffer.from)), counted: fc.nat() }), { maxLength: 3 }),
  list: fc.array(fc.integer(), { maxLength: 3 }),
});

/** Plain objects and plain bytes. */
const plain = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, function (this: Record<string, unknown>, key, its) {
      const part = this[key];
      return part instanceof Uint8Array ? { bytes: [...part] } : its;
    }),
  );

test('a fact comes back as it was, with its bytes', () => {
  fc.assert(
    fc.property(facts, (fact) => {
      const packed = packFact(fact as unknown as Fact);
      assert.deepEqual(plain(readFact(packed)), plain(fact));
    }),
    { numRuns: runs(300) },
  );
});

test('a fact that has changed, or is cut, is refused', () => {
  fc.assert(
    fc.property(facts, fc.nat(), fc.integer({ min: 1, max: 255 }), (fact, place, change) => {
      const packed = packFact(fact as unknown as Fact);
      const changed = Uint8Array.from(packed);
      changed[place % packed.length]! ^= change;
      assert.throws(() => readFact(changed), { name: 'DamagedFactError' });
      assert.throws(() => readFact(packed.subarray(0, place % packed.length)), { name: 'DamagedFactError' });
    }),
    { numRuns: runs(300) },
  );
});
