import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ShardWork } from '@halogrid/jobs/shard';
import { plannedSources } from '@halogrid/jobs/testing-planned';
import { packSums } from '@halogrid/results/part-sums';
import type { FoundInPart } from '@halogrid/results/part-writer';
import { InvalidResultError } from './check-answer.ts';
import { checkFound } from './check-found.ts';

const work: ShardWork = { kind: 'frames', sources: plannedSources([{ index: 0, uri: 'file:///0' }]) };
const shape = { grid: { rows: 1, columns: 1 }, channels: 2, bins: 4 };
const matrices = { levels: 2, names: ['1@0', '1@90'] };

/** The answer about a frame of 10 pixels with these sums. */
function answerOf(sums: bigint[]): FoundInPart {
  const counted = sums.slice(0, 4).reduce((sum, count) => sum + count, 0n);
  const place = { firstGroup: 0, groups: 1, start: 0, length: 1, checksum: 0 };
  return {
    part: '00000000-0000-4000-8000-000000000000',
    places: [{ sources: place, features: place }],
    found: 1,
    pixels: 10,
    digest: Buffer.alloc(32),
    parts: [packSums(counted, BigUint64Array.from(sums))],
  };
}

const cases: [name: string, shape: Parameters<typeof checkFound>[2][number], sums: bigint[], refused?: RegExp][] = [
  ['channels count the same pixels', shape, [1n, 2n, 3n, 0n, 6n, 0n, 0n, 0n]],
  ['others are refused', shape, [1n, 2n, 3n, 0n, 5n, 0n, 0n, 0n], /6 pixels are counted but channel 1 has 5/],
  ['more pixels than there are', shape, [9n, 2n, 0n, 0n, 11n, 0n, 0n, 0n], /11 of 10 pixels are counted/],
  ['bands may differ', { ...shape, bands: 2 }, [1n, 2n, 3n, 0n, 5n, 0n, 0n, 0n]],
  [
    'bands of more pixels than there are',
    { ...shape, bands: 2 },
    [1n, 2n, 3n, 0n, 11n, 0n, 0n, 0n],
    /6 pixels are counted but channel 1 has 11/,
  ],
  [
    'matrices may differ',
    { ...shape, matrices: { ...matrices, isSymmetric: false } },
    [1n, 2n, 3n, 0n, 5n, 4n, 0n, 0n],
  ],
  [
    'matrices of more pixels than there are',
    { ...shape, matrices: { ...matrices, isSymmetric: false } },
    [1n, 2n, 3n, 0n, 5n, 6n, 0n, 0n],
    /channel 1 has 11/,
  ],
  [
    'pairs in both directions',
    { ...shape, matrices: { ...matrices, isSymmetric: true } },
    [2n, 4n, 8n, 0n, 8n, 12n, 0n, 0n],
  ],
  [
    'too many pairs in both directions',
    { ...shape, matrices: { ...matrices, isSymmetric: true } },
    [2n, 4n, 8n, 8n, 8n, 12n, 0n, 0n],
    /22 of 10 pixels are counted/,
  ],
];

for (const [name, its, sums, refused] of cases) {
  test(name, () => {
    const check = () => checkFound(work, { found: answerOf(sums), results: [], errors: [] }, [its]);
    if (!refused) return void check();
    assert.throws(check, (error) => error instanceof InvalidResultError && refused.test(error.message));
  });
}
