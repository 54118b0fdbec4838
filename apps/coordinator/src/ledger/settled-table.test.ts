import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { quarantinedDigest } from '@halogrid/results/source-digest';
import fc from 'fast-check';
import type { SettledSource } from '../log/settled-source.ts';
import { SettledTable } from './settled-table.ts';

/** Plain objects, as the table gives them. */
const record = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> =>
  fc.record(model, { noNullPrototype: true }) as fc.Arbitrary<T>;
const reason = record({ stage: fc.string(), error: fc.string(), attempts: fc.nat(), shard: fc.integer({ min: -1 }) });
const px = fc.integer({ min: 1, max: 2 ** 32 - 1 });
const settled: fc.Arbitrary<SettledSource> = fc.oneof(
  record({
    state: fc.constant('done' as const),
    size: record({ width: px, height: px }),
    counted: fc.maxSafeNat(),
    digest: fc.uint8Array({ minLength: 32, maxLength: 32 }),
  }),
  record({ state: fc.constant('quarantined' as const), reason }),
);

test('the table tells what a map would hold, near and far', () => {
  const index = fc.oneof(fc.nat(3), fc.constantFrom(1023, 1024, 5000, 2_000_000));
  fc.assert(
    fc.property(fc.array(fc.tuple(index, settled)), (changes) => {
      const table = new SettledTable();
      const model = new Map<number, SettledSource>();
      for (const [at, source] of changes) {
        table.set(at, source);
        model.set(at, source);
        for (const seen of [at, at + 1, 0, 9_000_000]) {
          assert.deepEqual(table.get(seen), model.get(seen));
          assert.equal(table.state(seen), model.get(seen)?.state);
        }
      }
    }),
  );
});

test('digests follow one another in order, however many there are, those of quarantined sources too', () => {
  const digestOf = (index: number) => createHash('sha256').update(String(index)).digest();
  const lost = { state: 'quarantined' as const, reason: { stage: 'read', error: 'gone', attempts: 1, shard: 0 } };
  for (const count of [0, 1, 1023, 1024, 1025, 3000]) {
    const table = new SettledTable();
    const expected: Uint8Array[] = [];
    for (let index = 0; index < count; index++) {
      const done = { state: 'done' as const, size: { width: 1, height: 1 }, counted: 1, digest: digestOf(index) };
      table.set(index, index % 10 === 3 ? lost : done);
      expected.push(index % 10 === 3 ? quarantinedDigest : done.digest);
    }
    assert.ok(Buffer.concat([...table.digests(count)]).equals(Buffer.concat(expected)));
  }
});
