import assert from 'node:assert/strict';
import { test } from 'node:test';
import { growthOf, slope, type Usage } from './growth.ts';

const life = (rounds: number, bytes: (round: number) => number, descriptors: (round: number) => number): Usage[] =>
  Array.from({ length: rounds }, (_, round) => ({ round, bytes: bytes(round), descriptors: descriptors(round) }));

/** Memory like a heap that grows between two collections. */
const saw = (round: number): number => 150e6 + (round % 4) * 20e6;

test('a process that goes up and down, or grows while it warms up, does not grow', () => {
  assert.equal(growthOf(life(100, saw, () => 40)), undefined);
  assert.equal(
    growthOf(
      life(
        40,
        (round) => saw(round) + Math.min(round, 3) * 100e6,
        () => 40,
      ),
    ),
    undefined,
  );
});

test('a rise from round to round is reported, for memory and descriptors separately', () => {
  assert.equal(
    growthOf(
      life(
        103,
        (round) => 100e6 + round * 2e6,
        () => 40,
      ),
    ),
    '2.0 MB a round',
  );
  assert.equal(growthOf(life(103, saw, (round) => 40 + round)), '1.0 descriptors a round');
  assert.match(
    growthOf(
      life(
        60,
        (round) => saw(round) + round * 4e6,
        (round) => 40 + 2 * round,
      ),
    )!,
    /MB.* and 2\.0/,
  );
});

test('a short life gives no result', () => {
  assert.equal(
    growthOf(
      life(
        10,
        (round) => round * 1e9,
        () => 40,
      ),
    ),
    undefined,
  );
});

test('values on a line have the slope of the line', () => {
  assert.equal(slope([1, 3, 5, 7]), 2);
  assert.equal(slope([5]), 0);
});
