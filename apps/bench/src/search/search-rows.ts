import {
  type DistanceName,
  distanceNames,
  distances,
  type GpuScan,
  queryVector,
  readFrame,
  type SearchIndex,
  type Vector,
  withoutPadding,
} from '@halogrid/search';
import type { BenchSearchOptions } from './bench-search.ts';
import { row, seconds, type Times } from './measured-row.ts';

const top = 10;

/** Frames that the plain loop scores. */
const plainFrames = 2_000;

/** Frames of the index that are queries: spread over it, and the same in every run. */
export const queryRows = ({ frames, queries, repetitions }: BenchSearchOptions): number[] =>
  Array.from({ length: Math.max(queries, repetitions) }, (_, i) => (i * 1_000_003) % frames);

/** Times of searches for one query and for many. */
export async function searchRows(index: SearchIndex, options: BenchSearchOptions, scan?: GpuScan): Promise<string[][]> {
  const { frames, repetitions, queries } = options;
  const { catalog } = index;
  const { pipeline } = catalog;
  const wanted = queryRows(options).map((at) => withoutPadding(pipeline, readFrame(catalog, at)));
  const of = (bins: ArrayLike<number>): Vector => queryVector(pipeline, bins, 'frame');
  const search = async (vectors: Vector[], distance: DistanceName): Promise<Times> => {
    const times = await seconds(() => index.search({ queries: vectors, distance, top, unit: 'frame' }));
    return { ...times, device: scan?.passSeconds };
  };
  const repeat = async (act: (i: number) => Promise<Times>): Promise<Times[]> => {
    // The first compiles what it needs.
    await act(0);
    const times: Times[] = [];
    for (let i = 0; i < repetitions; i++) times.push(await act(i));
    return times;
  };
  const rows: string[][] = [];
  for (const distance of distanceNames) {
    rows.push(row(distance, await repeat((i) => search([of(wanted[i]!)], distance))));
  }
  const larger = wanted.map((bins) => bins.with(0, bins[0]! + 1));
  const others = await repeat((i) => search([of(larger[i]!)], 'intersection'));
  rows.push(row('intersection, query of another size', others));
  // Threads take seconds for each.
  for (const distance of scan ? distanceNames : (['intersection'] as const)) {
    const many = await repeat(() => search(wanted.slice(0, queries).map(of), distance));
    rows.push(
      row(
        `${distance}, ${queries} queries at once, each`,
        many.map((times) => shareOf(times, queries)),
      ),
    );
  }
  const some = Array.from({ length: plainFrames }, (_, i) => of(wanted[i % wanted.length]!));
  const plain = await seconds(async () => some.map((vector) => distances.intersection.score(some[0]!, vector)));
  rows.push(row('intersection by a plain loop, from a part', [shareOf(plain, plainFrames / frames)]));
  return rows;
}

const shareOf = ({ wall, processor, device }: Times, parts: number): Times => ({
  wall: wall / parts,
  processor: processor === undefined ? undefined : processor / parts,
  device: device === undefined ? undefined : device / parts,
});
