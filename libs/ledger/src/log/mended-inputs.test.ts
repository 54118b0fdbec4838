import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MendedInputCounts } from './mended-inputs.ts';

const uriOf = (source: number): string => `file:///in/${source}`;
const told = (counts: MendedInputCounts) =>
  counts.list(uriOf).map(({ mended, inputs, example }) => [mended, inputs, example]);

test('an image in tiles counts once, when its last tile is in, and one that is set aside does not', () => {
  const counts = new MendedInputCounts();
  for (const source of [4, 4, 7]) counts.addTile({ mended: 'a', sources: 1, source });
  assert.deepEqual(told(counts), []);
  // Counts that are restored from the stored form continue.
  const again = new MendedInputCounts(JSON.parse(JSON.stringify(counts.stored)));
  again.settle(4, true);
  again.settle(4, true);
  again.settle(7, false);
  again.settle(9, true);
  assert.deepEqual(told(again), [['a', 1, 'file:///in/4']]);
  again.add({ mended: 'a', sources: 5, source: 2 });
  assert.deepEqual(told(new MendedInputCounts(again.stored)), [['a', 6, 'file:///in/2']]);
});

test('if tiles of an image bring different sentences, the same one counts in every order', () => {
  const sentences = ['b', 'a', 'a; b', 'b; a'];
  const everyOrder = (left: string[]): string[][] =>
    left.length === 0 ? [[]] : left.flatMap((one) => everyOrder(left.filter((s) => s !== one)).map((s) => [one, ...s]));
  for (const order of everyOrder(sentences)) {
    const counts = new MendedInputCounts();
    for (const mended of order) counts.addTile({ mended, sources: 1, source: 4 });
    counts.settle(4, true);
    assert.deepEqual(told(counts), [['a; b', 1, 'file:///in/4']]);
  }
});

test('the most frequent sentence comes first, and beyond a limit all further sentences count as one', () => {
  const counts = new MendedInputCounts();
  for (let i = 0; i < 50; i++) counts.add({ mended: `${i}`, sources: i === 3 ? 2 : 1, source: i });
  const list = told(counts);
  assert.equal(list.length, 20);
  assert.deepEqual(list.slice(0, 2), [
    ['Bytes that hold no pixel were passed over', 31, 'file:///in/19'],
    ['3', 2, 'file:///in/3'],
  ]);
});

test('parts of a URI that may be secret are left out', () => {
  const counts = new MendedInputCounts();
  counts.add({ mended: 'a', sources: 1, source: 0 });
  assert.equal(counts.stored?.open.length, 0);
  assert.doesNotMatch(counts.list(() => 'https://me:secret@host/a.jpg')[0]!.example, /secret/);
});
