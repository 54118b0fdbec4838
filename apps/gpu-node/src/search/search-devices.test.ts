import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { distanceNames, type GpuScan, queryVector, SearchIndex, type SearchRequest } from '@halogrid/search';
import {
  byDefinition,
  type MadeFrame,
  type MadeJob,
  madeBins,
  makeIndex,
  noise,
  searchedQueries,
  searchedRows,
  tiedFrames,
  vectorOf,
} from '@halogrid/search/testing';
import { testedKind } from '../devices/testing/verify-against-reference.ts';
import { openGpuScan, type ScanKind, scanOn } from './open-scan.ts';

const top = 25;

async function open(t: TestContext, folder: string, kind: ScanKind): Promise<SearchIndex> {
  const index = await SearchIndex.openWith(folder, scanOn(kind, assert.fail));
  t.after(() => index.close());
  return index;
}

// Frames of one size, and of four sizes; only float64 can count the largest.
for (const sizes of [1, 4]) {
  test(`a device finds the same as a plain loop, for every distance and cut, frames of ${sizes} sizes`, async (t) => {
    const all = [...tiedFrames(searchedRows, sizes, sizes)];
    const vectors = all.map(({ source, frame, cells }) => ({ source, frame, vector: vectorOf(cells[0]!) }));
    const random = noise(99);
    const wanted = [
      all[7]!.cells[0]!,
      ...Array.from({ length: searchedQueries - 1 }, () => Array.from({ length: madeBins }, () => random(50))),
    ];
    const expected = distanceNames.map((distance) =>
      wanted.map((query) => byDefinition(vectors, query, distance, top)),
    );
    const cut = Math.floor(searchedRows / 3);
    const parts = await makeIndex(t, [all.slice(cut, 2 * cut), all.slice(0, cut), all.slice(2 * cut)]);
    const searched: [folder: string, kind: ScanKind][] = [[parts, testedKind]];
    // Scans on threads have their own tests.
    if (sizes === 1) searched.push([await makeIndex(t, [all]), testedKind], [parts, 'twin']);
    for (const [folder, kind] of searched) {
      const index = await open(t, folder, kind);
      const queries = wanted.map((bins) => queryVector(index.catalog.pipeline, bins, 'frame'));
      for (const [i, distance] of distanceNames.entries()) {
        const found = await index.search({ queries, distance, top, unit: 'frame' });
        // A few queries are searched by another path than many.
        const [alone] = await index.search({ queries: [queries[1]!], distance, top, unit: 'frame' });
        assert.deepEqual(alone, found[1], `${kind}, ${distance}, a query alone`);
        const seen = found.map((hits) =>
          hits.map(({ row, score }) => {
            const { uri, frame } = index.catalog.placeOf(row);
            return [uri, frame, score.value];
          }),
        );
        assert.deepEqual(seen, expected[i], `${kind}, ${distance}`);
      }
    }
  });
}

/** Frames of a still camera that hardly differ, of many sizes, with cells. */
function* stillFrames(count: number, cells: number): Generator<MadeFrame> {
  const random = noise(3);
  const usual = Array.from({ length: madeBins }, () => 20_000 + random(60_000));
  for (let frame = 0; frame < count; frame++) {
    const seen = Array.from({ length: cells }, (_, cell) => usual.map((bin) => bin + random(2 + 5 * cell)));
    if (frame % 50 === 0) seen[1]!.fill(0);
    yield { source: 'file:///archive/still.mp4', frame, timestampMs: 40 * frame, cells: seen };
  }
}

test('frames that hardly differ are told apart, as a whole and by their cells, for any number of hits', async (t) => {
  const job: MadeJob = { grid: { rows: 1, columns: 3 } };
  const made = [...stillFrames(700, 3)];
  const folder = await makeIndex(t, [made], job);
  const [device, twin] = [await open(t, folder, testedKind), await open(t, folder, 'twin')];
  const { pipeline } = twin.catalog;
  const bins = [1, 20, 333, 444, 600].map((at) => made[at]!.cells.flatMap((cell) => [...(cell as number[])]));
  for (const distance of distanceNames) {
    const requests: SearchRequest[] = [
      { queries: bins.map((one) => queryVector(pipeline, one, 'frame')), distance, top: 5, unit: 'frame' },
      { queries: bins.map((one) => queryVector(pipeline, one, 'cell')), distance, top: 5, unit: 'cell' },
      { queries: [queryVector(pipeline, bins[2]!, 'cell')], distance, top: 3000, unit: 'cell' },
      { queries: [queryVector(pipeline, bins[2]!, 'frame')], distance, top: 5, unit: 'frame', within: 9 },
    ];
    for (const request of requests)
      assert.deepEqual(await device.search(request), await twin.search(request), `${distance}, ${request.unit}`);
  }
  const none = { queries: [queryVector(pipeline, bins[0]!, 'frame')], distance: 'l1', top: 5, unit: 'frame' } as const;
  assert.deepEqual(await device.search({ ...none, filter: { camera: 'north' } }), [[]]);
  assert.equal((await device.search({ ...none, filter: {} }))[0]!.length, 5, 'the search before has no effect');
});

test('a device that is lost during a search does not change the hits', async (t) => {
  const all = [...tiedFrames(600, 1, 1)];
  const lines: string[] = [];
  let scan: GpuScan | undefined;
  const index = await SearchIndex.openWith(await makeIndex(t, [all]), async (catalog) => {
    scan = await openGpuScan(testedKind, catalog, { note: (line) => lines.push(line) });
    return scan;
  });
  t.after(() => index.close());
  const queries = [queryVector(index.catalog.pipeline, all[7]!.cells[0]!, 'frame')];
  const request = { queries, distance: 'chi2', top: 9, unit: 'frame' } as const;
  const expected = await index.search(request);
  scan!.memory.device.destroy();
  assert.deepEqual(await index.search(request), expected);
  assert.deepEqual(await index.search(request), expected);
  assert.match(lines.join('\n'), /^.+\. Threads go on with the search\.$/, 'it is said once');
});
