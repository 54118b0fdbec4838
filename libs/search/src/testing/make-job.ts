import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type FeatureSource, FeatureWriter, type FileLimits } from '@halogrid/results/features';

/** A job of a test, without its rows. */
export interface MadeJob {
  id?: string;
  digest?: string;
  state?: string;
  convention?: string;
  grid?: { rows: number; columns: number };
  sources?: string[];
  /** Limits of the counts in a file of its features. */
  limits?: FileLimits;
}

/** The number of bins of uniform LBP labels of 8 points: few enough for a test to write many rows. */
export const madeBins = 59;

/** A frame of a test: the counts of its cells, one after another. */
export type MadeFrame = Pick<FeatureSource, 'source' | 'frame' | 'timestampMs'> &
  Partial<Pick<FeatureSource, 'capturedAtMs' | 'camera'>> & { cells: ArrayLike<number>[] };

/** Writes the output of a job into `out` as far as an index reads it. */
export async function makeJob(out: string, frames: Iterable<MadeFrame>, job: MadeJob = {}): Promise<string> {
  const {
    id = 'job-1',
    digest = `digest of ${id}`,
    state = 'complete',
    convention = 'nw-cw-msb',
    sources = ['file:///archive'],
    limits,
  } = job;
  const { grid = { rows: 1, columns: 1 } } = job;
  await mkdir(out, { recursive: true });
  const writer = await FeatureWriter.create(join(out, 'features.parquet'), { grid, bins: madeBins }, limits);
  let number = 0;
  for (const { cells, ...frame } of frames) {
    const source = { number: number++, name: '', capturedAtMs: null, camera: null, ...frame };
    const counted = (histogram: ArrayLike<number>) => Array.from(histogram).reduce((sum, count) => sum + count, 0);
    await writer.add(
      source,
      cells.map((histogram) => ({ counted: counted(histogram), histogram })),
    );
  }
  await writer.finish(number);
  const parameters = { convention, points: '8', radius: '1', labels: 'nri-uniform' };
  const pipeline = { operations: [{ kernel: 'lbp', parameters, border: 'interior' }] };
  const text = { id, state, digest, resultsVersion: 2, specification: { sources, pipeline, grid } };
  await writeFile(join(out, 'job.json'), JSON.stringify(text));
  return out;
}

/** Makes numbers that look random, the same for the same seed: the upper bits of a linear congruential generator. */
export function noise(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
