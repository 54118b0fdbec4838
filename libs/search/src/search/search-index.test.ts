import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { readFinishedJob } from '../build/finished-job.ts';
import { distanceNames } from '../distances/distance-names.ts';
import { writeManifest } from '../store/index-folder.ts';
import { queryVector } from '../store/read-block.ts';
import { SegmentsWriter } from '../store/segments-writer.ts';
import { byDefinition, makeIndex, tiedFrames, vectorOf } from '../testing/made-index.ts';
import { type MadeFrame, type MadeJob, madeBins, makeJob, noise } from '../testing/make-job.ts';
import { searchedQueries, searchedRows } from '../testing/searched.ts';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import type { Filter } from './admission.ts';
import { SearchIndex } from './search-index.ts';

for (const sizes of [1, 4]) {
  test(`a search finds what a plain loop finds, for every distance and cut${sizes > 1 ? ', if frames differ in size' : ''}`, async (t) => {
    const all = [...tiedFrames(searchedRows, sizes, sizes)];
    const vectors = all.map(({ source, frame, cells }) => ({ source, frame, vector: vectorOf(cells[0]!) }));
    const random = noise(99);
    const queries = [
      all[7]!.cells[0]!,
      ...Array.from({ length: searchedQueries - 1 }, () => Array.from({ length: madeBins }, () => random(50))),
    ];
    const whole = await open(t, [all], {}, 0);
    const cut = Math.floor(searchedRows / 3);
    const parts = await open(t, [all.slice(cut, 2 * cut), all.slice(0, cut), all.slice(2 * cut)], {}, 2);
    for (const distance of distanceNames) {
      const request = {
        queries: queries.map((bins) => queryVector(whole.catalog.pipeline, bins, 'frame')),
        distance,
        top: 25,
        unit: 'frame' as const,
      };
      const [one, other] = [await whole.search(request), await parts.search(request)];
      for (const [i, query] of queries.entries()) {
        const expected = byDefinition(vectors, query, distance, 25);
        for (const [index, found] of [
          [whole, one],
          [parts, other],
        ] as const) {
          const seen = found[i]!.map(({ row, score }) => {
            const { uri, frame } = index.catalog.placeOf(row);
            return [uri, frame, score.value];
          });
          assert.deepEqual(seen, expected, `${distance}, query ${i}`);
        }
      }
    }
  });
}

test('cells of a grid are compared one by one, or all together', async (t) => {
  const grid = { rows: 1, columns: 2 };
  const cell = (bin: number): number[] => Array.from({ length: madeBins }, (_, i) => (i === bin ? 10 : 0));
  const made = [
    { source: 'file:///a', frame: 0, timestampMs: null, cells: [cell(1), cell(2)] },
    { source: 'file:///b', frame: 0, timestampMs: null, cells: [cell(2), cell(1)] },
    { source: 'file:///c', frame: 0, timestampMs: null, cells: [cell(3), cell(1)] },
  ];
  const index = await open(t, [made], { grid });
  const { pipeline } = index.catalog;
  const request = { distance: 'intersection', top: 9 } as const;
  const whole = queryVector(pipeline, [...cell(2), ...cell(1)], 'frame');
  const [frames] = await index.search({ ...request, queries: [whole], unit: 'frame' });
  assert.deepEqual(
    frames!.map(({ row, score }) => [row, score.value]),
    [
      [1, 1],
      [2, 0.5],
      [0, 0],
    ],
  );
  // A query is compared as a whole: both its cells count together.
  const [cells] = await index.search({
    ...request,
    queries: [queryVector(pipeline, [...cell(3), ...cell(3)], 'cell')],
    unit: 'cell',
  });
  assert.deepEqual([cells![0]!.row, cells![0]!.cell, cells![0]!.score.value, cells!.length], [2, 0, 1, 6]);
});

test('near-duplicates are folded and sources bounded, however many hits are to be looked through', async (t) => {
  const random = noise(5);
  const base = Array.from({ length: madeBins }, () => 1000);
  const made = Array.from({ length: 400 }, (_, frame) => ({
    source: `file:///cam${frame < 395 ? 1 : 2}.mp4`,
    frame: frame % 395,
    timestampMs: frame,
    cells: [base.map((count) => count + random(frame < 395 ? 10 : 900))],
  }));
  const index = await open(t, [made]);
  const queries = [queryVector(index.catalog.pipeline, base, 'frame')];
  const request = { queries, distance: 'l1', top: 3, unit: 'frame' } as const;
  const [folded] = await index.search({ ...request, within: 500 });
  assert.equal(folded!.length, 2);
  assert.ok(folded![0]!.row < 395 && folded![0]!.folded >= 394, 'all of the first camera are one finding');
  const [bounded] = await index.search({ ...request, perSource: 1 });
  assert.deepEqual(
    bounded!.map(({ row }) => row < 395),
    [true, false],
  );
});

test('only frames of the requested time and camera are found, and none whose time or camera is not known', async (t) => {
  const folder = await temporaryFolder(t);
  const job = await readFinishedJob(await makeJob(join(folder, 'out'), []));
  const writer = new SegmentsWriter(folder, { cells: 1, cellBins: madeBins }, 1);
  const bins = Array.from({ length: madeBins }, () => 1);
  const hours = [Number.NaN, 1, 2, 3, 4, 5];
  for (const [frame, hour] of hours.entries()) {
    const camera = [null, 'north', 'south'][frame % 3]!;
    await writer.add(job, { uri: 'file:///a', frame, timestampMs: Number.NaN, capturedAtMs: hour, camera, bins });
  }
  const { segments, next } = await writer.finish();
  await writeManifest(folder, { pipeline: job.pipeline, segments, nextSegment: next });
  const index = await SearchIndex.open(folder);
  t.after(() => index.close());
  const request = {
    queries: [queryVector(job.pipeline, bins, 'frame')],
    distance: 'l1',
    top: 9,
    unit: 'frame',
  } as const;
  const table: [Filter, number[]][] = [
    [{}, [0, 1, 2, 3, 4, 5]],
    [{ sinceMs: 2 }, [2, 3, 4, 5]],
    [{ sinceMs: 2, untilMs: 4 }, [2, 3, 4]],
    [{ camera: 'north' }, [1, 4]],
    [{ camera: 'south', untilMs: 2 }, [2]],
    [{ camera: 'west' }, []],
  ];
  for (const [filter, rows] of table) {
    const [found] = await index.search({ ...request, filter });
    assert.deepEqual(
      found!.map(({ row }) => row),
      rows,
    );
  }
  assert.deepEqual(index.catalog.describe(2), {
    row: 2,
    uri: 'file:///a',
    frame: 2,
    timestampMs: null,
    capturedAtMs: 2,
    camera: 'south',
    counted: madeBins,
  });
});

test('a query that counts nothing is refused', async (t) => {
  const index = await open(t, [[...tiedFrames(20, 1, 3)]]);
  const queries = [queryVector(index.catalog.pipeline, new Float64Array(madeBins), 'frame')];
  await assert.rejects(
    index.search({ queries, distance: 'chi2', top: 1, unit: 'frame' }),
    /^Error: The query counts no pixel, so there is nothing to compare$/,
  );
});

async function open(t: TestContext, jobs: MadeFrame[][], job: MadeJob = {}, threads?: number): Promise<SearchIndex> {
  const index = await SearchIndex.open(await makeIndex(t, jobs, job), threads);
  t.after(() => index.close());
  return index;
}
