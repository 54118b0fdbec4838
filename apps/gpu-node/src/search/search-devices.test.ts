import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { isThorough } from '@halogrid/kernels/testing';
import { distanceNames, queryVector, SearchIndex } from '@halogrid/search';
import { byDefinition, madeBins, makeIndex, noise, tiedFrames, vectorOf } from '@halogrid/search/testing';
import { testedKind } from '../devices/testing/verify-against-reference.ts';
import { type ScanKind, scanOn } from './open-scan.ts';

const [rowCount, queryCount] = isThorough ? [100_000, 100] : [1_500, 6];
const kinds: ScanKind[] = [testedKind, 'cpu', 'twin'];

async function open(t: TestContext, folder: string, kind: ScanKind): Promise<SearchIndex> {
  const index = await SearchIndex.openWith(folder, scanOn(kind, assert.fail));
  t.after(() => index.close());
  return index;
}

for (const sizes of [1, 4]) {
  test(`every device finds what a plain loop finds, for every distance and cut${sizes > 1 ? ', where frames differ in size' : ''}`, async (t) => {
    const all = [...tiedFrames(rowCount, sizes, sizes)];
    const vectors = all.map(({ source, frame, cells }) => ({ source, frame, vector: vectorOf(cells[0]!) }));
    const random = noise(99);
    const wanted = [
      all[7]!.cells[0]!,
      ...Array.from({ length: queryCount - 1 }, () => Array.from({ length: madeBins }, () => random(50))),
    ];
    const cut = Math.floor(rowCount / 3);
    const whole = await makeIndex(t, [all]);
    const parts = await makeIndex(t, [all.slice(cut, 2 * cut), all.slice(0, cut), all.slice(2 * cut)]);
    for (const [folder, kind] of [whole, parts].flatMap((folder) => kinds.map((kind) => [folder, kind] as const))) {
      const index = await open(t, folder, kind);
      const queries = wanted.map((bins) => queryVector(index.catalog.pipeline, bins, 'frame'));
      for (const distance of distanceNames) {
        const found = await index.search({ queries, distance, top: 25, unit: 'frame' });
        // Few queries are looked for in another way than many.
        const [alone] = await index.search({ queries: [queries[1]!], distance, top: 25, unit: 'frame' });
        assert.deepEqual(alone, found[1], `${kind}, ${distance}, a query alone`);
        for (const [i, hits] of found.entries()) {
          const seen = hits.map(({ row, score }) => {
            const { uri, frame } = index.catalog.placeOf(row);
            return [uri, frame, score.value];
          });
          assert.deepEqual(seen, byDefinition(vectors, wanted[i]!, distance, 25), `${kind}, ${distance}, query ${i}`);
        }
      }
    }
  });
}
