import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { readFinishedJob } from '../build/finished-job.ts';
import { IndexWriter } from '../build/index-writer.ts';
import { compareScores, distances, type Score } from '../distances/distance.ts';
import type { DistanceName } from '../distances/distance-names.ts';
import { massOf, type Vector } from '../distances/vector.ts';
import { type MadeFrame, type MadeJob, madeBins, makeJob, noise } from './make-job.ts';
import { temporaryFolder } from './temporary-folder.ts';

/**
 * Frames with many ties: few shapes of histograms, each in several sizes. Blocks differ in the width of their counts;
 * if `sizes` is 1, all frames count the same number of pixels.
 */
export function* tiedFrames(count: number, sizes: number, seed: number): Generator<MadeFrame> {
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

export const vectorOf = (bins: ArrayLike<number>): Vector => ({ bins: Float64Array.from(bins), mass: massOf(bins) });

export type Scored = Pick<MadeFrame, 'source' | 'frame'> & { vector: Vector };

/** The best frames by the definitions: every frame is scored, and the best are kept in order. */
export function byDefinition(all: readonly Scored[], query: ArrayLike<number>, distance: DistanceName, top: number) {
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

/** Makes an index of jobs that have those frames, and gives its folder, which is removed after the test. */
export async function makeIndex(t: TestContext, jobs: readonly MadeFrame[][], job: MadeJob = {}): Promise<string> {
  const folder = await temporaryFolder(t);
  const index = join(folder, 'index');
  const writer = await IndexWriter.open(index);
  for (const [i, made] of jobs.entries()) {
    const out = await makeJob(join(folder, `out-${i}`), made, { ...job, id: `job-${i}` });
    await writer.add(await readFinishedJob(out));
  }
  writer.close();
  return index;
}
