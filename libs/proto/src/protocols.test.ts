import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { commonProtocol, type Protocols } from './protocols.ts';

const range = fc
  .tuple(fc.integer({ min: 1, max: 20 }), fc.nat(2))
  .map(([oldest, more]): Protocols => ({ oldest, newest: oldest + more }));
const within = (protocol: number, { oldest, newest }: Protocols): boolean => protocol >= oldest && protocol <= newest;

test('two peers speak the newest protocol that both know, and both find the same', () => {
  fc.assert(
    fc.property(range, range, (one, other) => {
      const known = Array.from({ length: 30 }, (_, i) => i).filter((i) => within(i, one) && within(i, other));
      assert.equal(commonProtocol(one, other), known.at(-1));
      assert.equal(commonProtocol(other, one), known.at(-1));
    }),
  );
});

test('versions that follow each other speak with each other, also with one that says only its own protocol', () => {
  const version = (newest: number): Protocols => ({ oldest: newest - 1, newest });
  for (let newest = 2; newest < 9; newest++) {
    assert.equal(commonProtocol(version(newest), version(newest + 1)), newest);
    assert.equal(commonProtocol({ newest }, version(newest + 1)), newest);
    assert.equal(commonProtocol({ newest, oldest: 0 }, version(newest + 2)), undefined);
  }
});
