import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import fc from 'fast-check';
import { compareNatural } from './natural-order.ts';
import { type NameOrder, type SortLimits, sortNames } from './sort-names.ts';

async function sorted(names: readonly string[], limits?: SortLimits, order: NameOrder = natural): Promise<string[]> {
  const all: string[] = [];
  for await (const chunk of sortNames(streamOf(names), order, limits)) {
    assert.ok(chunk.length > 0);
    all.push(...chunk);
  }
  return all;
}

async function* streamOf(names: readonly string[]): AsyncGenerator<string[]> {
  for (let i = 0; i < names.length; i += 7) yield names.slice(i, i + 7);
}

const natural = { from: 0, compare: (a: string, b: string): number => compareNatural(a, b) };

test('the order equals a sort in memory, however short the runs and however few are merged at once', async () => {
  const name = fc.oneof(
    fc.string({ unit: fc.constantFrom('0', '1', '9', 'a', '-', 'é', '漢', '😀', '\n'), maxLength: 8 }),
    fc.nat({ max: 400 }).map((n) => `frame${n}.jpg`),
  );
  const limits = fc.record({ heldUnits: fc.integer({ min: 1, max: 400 }), runs: fc.integer({ min: 2, max: 5 }) });
  await fc.assert(
    fc.asyncProperty(fc.array(name, { maxLength: 120 }), limits, async (names, given) => {
      assert.deepEqual(await sorted(names, given), names.toSorted(compareNatural));
    }),
    { numRuns: 150 },
  );
});

test('runs longer than what is read at once come back whole', async () => {
  const names = Array.from({ length: 20_000 }, (_, i) => `${(i * 7919) % 20_000}-${'x'.repeat(i % 50)}é`);
  const limits = { heldUnits: 500_000, runs: 3 };
  assert.deepEqual(await sorted(names, limits), names.toSorted(compareNatural));
  assert.deepEqual(await sorted(names, limits, { ...natural, onThread: true }), names.toSorted(compareNatural));
});

test('few names are sorted without a temporary file, and none is left of many', async () => {
  const ours = async () => (await readdir(tmpdir())).filter((name) => name.startsWith('halogrid-names-'));
  const before = await ours();
  const names = Array.from({ length: 3000 }, (_, i) => `${i}`).reverse();
  const list = sortNames(streamOf(names), natural, { heldUnits: 1000, runs: 4 });
  assert.equal((await list.next()).value?.[0], '0');
  assert.deepEqual(await ours(), before);
  await list.return();
});

test('a stream that fails is not sorted', async () => {
  async function* broken(): AsyncGenerator<string[]> {
    yield ['a'];
    throw new Error('the disk is gone');
  }
  await assert.rejects(sortNames(broken(), natural).next(), /the disk is gone/);
});
