import assert from 'node:assert/strict';
import { test } from 'node:test';
import { viewChange } from './change-kind.ts';

const shape = { rows: 2, columns: 2, bins: 4 };
const view = Float32Array.from([0.7, 0.1, 0.1, 0.1, 0.1, 0.7, 0.1, 0.1, 0.1, 0.1, 0.7, 0.1, 0.1, 0.1, 0.1, 0.7]);
const swapped = Float32Array.from([...view.slice(4, 8), ...view.slice(0, 4), ...view.slice(12), ...view.slice(8, 12)]);
/** A half of each cell becomes the same. */
const faded = view.map((share, i) => share / 2 + (i % 4 === 0 ? 0.5 : 0));
const flat = view.map((_, i) => (i % 4 === 0 ? 1 : 0));

const table = [
  { name: 'cells that change places', after: swapped, kind: 'turned' },
  { name: 'cells that become more alike', after: faded, kind: 'blurred' },
  { name: 'cells that are all alike', after: flat, kind: 'covered' },
] as const;

for (const { name, after, kind } of table) {
  test(`${name}: ${kind}`, () => assert.equal(viewChange(view, after, shape), kind));
}

test('one cell tells nothing', () => {
  assert.equal(viewChange(view, flat, { rows: 1, columns: 1, bins: 16 }), undefined);
});
