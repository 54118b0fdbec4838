import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { isThorough } from '@halogrid/kernels/testing';
import { readFinishedJob } from '../build/finished-job.ts';
import { IndexWriter } from '../build/index-writer.ts';
import { compareScores, distances, type Score } from '../distances/distance.ts';
import { type DistanceName, distanceNames } from '../distances/distance-names.ts';
import { massOf, type Vector } from '../distances/vector.ts';
import { writeManifest } from '../store/index-folder.ts';
import { queryVector } from '../store/read-block.ts';
import { SegmentsWriter } from '../store/segments-writer.ts';
import { type MadeFrame, type MadeJob, madeBins, makeJob, noise } from '../testing/make-job.ts';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import type { Filter } from './admission.ts';
import { SearchIndex } from './search-index.ts';

const [rowCount, queryCount] = isThorough ? [100_000, 100] : [1_500, 6];

/**
 * Frames with many ties: few shapes of histograms, each in several sizes. Blocks differ in the width of their counts; where `sizes`
 * is 1, all frames count the same pixels.
 */
function* frames(count: number, sizes: number, seed: number): Generator<MadeFrame> {
  const random = noise(seed);
  const shapes = Array.from({ length: Math.ceil(count / 4) }, () =>
    Array.from({ length: madeBins - 1 }, () => random(40)),
  );
  const largest = Math.max(...shapes.map(massOf));
  for (let i = 0; i < count; i++) {
    const shape = shapes[random(shapes.length)]!;
    const times = [1, 3, 40_000, 2 ** 30][random(i > count / 2 ? sizes : Math.min(sizes, 2))]!;
    const cells = [[...shape, largest - massOf(shape)].map((one) => one * times)];
    if (sizes > 1 && i % 97 === 0) cells[0]!.fill(0);
    yield { source: `file:///archive/${random(count)}.jpg`, frame: i, timestampMs: i * 40, cells };
  }
}

const vectorOf = (bins: ArrayLike<number>): Vector => ({ bins: Float64Array.from(bins), mass: massOf(bins) });

type Scored = Pick<MadeFrame, 'source' | 'frame'> & { vector: Vector };

/** What the definitions say: every frame scored, and the best of them kept in order. */
function byDefinition(all: readonly Scored[], query: ArrayLike<number>, distance: DistanceName, top: number) {
  const { sense, score } = distances[distance];
  const wanted = vectorOf(query);
  const best: { source: string; frame: number; score: Score }[] = [];
  const isBetter = (a: (typeof best)[0], b: (typeof best)[0]): boolean => {
    const order = compareScores(sense, a.score, b.score);
    if (order !== 0) return order < 0;
    return a.source === b.source ? a.frame < b.frame : a.source < b.source;
  };
  for (const { source, frame, vector } of all) {
    if (vector.mass === 0) continue;
    const scored = { source, frame, score: score(wanted, vector) };
    const place = best.findIndex((other) => isBetter(scored, other));
    best.splice(place < 0 ? best.length : place, 0, scored);
    if (best.length > top) best.pop();
  }
  return best.map(({ source, frame, score: { value } }) => [source, frame, value]);
}

for (const sizes of [1, 4]) {
  test(`what is found is what a plain loop finds, for every distance and cut${sizes > 1 ? ', where frames differ in size' : ''}`, async (t) => {
    const all = [...frames(rowCount, sizes, sizes)];
    const vectors = all.map(({ source, frame, cells }) => ({ source, frame, vector: vectorOf(cells[0]!) }));
    const random = noise(99);
    const queries = [
      all[7]!.cells[0]!,
      ...Array.from({ length: queryCount - 1 }, () => Array.from({ length: madeBins }, () => random(50))),
    ];
    const whole = await open(t, [all], {}, 0);
    const cut = Math.floor(rowCount / 3);
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
  // Of the query as a whole, both its cells count together.
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

test('only frames of the time and the camera that are asked for are found, none of which that is not known', async (t) => {
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
  const index = await open(t, [[...frames(20, 1, 3)]]);
  const queries = [queryVector(index.catalog.pipeline, new Float64Array(madeBins), 'frame')];
  await assert.rejects(
    index.search({ queries, distance: 'chi2', top: 1, unit: 'frame' }),
    /^Error: The query counts no pixel, so there is nothing to compare$/,
  );
});

async function open(t: TestContext, jobs: MadeFrame[][], job: MadeJob = {}, threads?: number): Promise<SearchIndex> {
  const folder = await temporaryFolder(t);
  const writer = await IndexWriter.open(join(folder, 'index'));
  for (const [i, made] of jobs.entries()) {
    const out = await makeJob(join(folder, `out-${i}`), made, { ...job, id: `job-${i}` });
    await writer.add(await readFinishedJob(out));
  }
  writer.close();
  const index = await SearchIndex.open(join(folder, 'index'), threads);
  t.after(() => index.close());
  return index;
}
