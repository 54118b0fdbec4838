import {
  type DistanceName,
  distances,
  type Finding,
  type GpuScan,
  queryVector,
  readFrame,
  type SearchIndex,
  type Vector,
  withoutPadding,
} from '@halogrid/search';
import type { BenchSearchOptions } from './bench-search-options.ts';
import { row, seconds, type Times } from './measured-row.ts';

const top = 10;

/** Searches on a GPU before the first timed one. */
const warmUps = 4;

/** Frames scored by the plain loop. */
const plainFrames = 2_000;

/** Numbers of the frames that are queries: spread over the index, the same in every run. */
export const queryRows = ({ frames, queries, repetitions }: BenchSearchOptions): number[] =>
  Array.from({ length: Math.max(queries, repetitions) }, (_, i) => (i * 1_000_003) % frames);

export interface SearchRowsOptions {
  /** Distances for searches of one query, and for searches of many at once. */
  one: readonly DistanceName[];
  many: readonly DistanceName[];
  /** The scan on a GPU whose clock is read; undefined for threads. */
  scan?: GpuScan;
  /** Called with each row once it is known. */
  note: (line: string) => void;
}

export interface SearchTimes {
  rows: string[][];
  /** Findings by distance and number of queries. */
  found: Map<string, Finding[][]>;
}

/** Times of searches for one query and for many. */
export async function searchRows(
  index: SearchIndex,
  options: BenchSearchOptions,
  { one, many, scan, note }: SearchRowsOptions,
): Promise<SearchTimes> {
  const { repetitions, queries } = options;
  const found: SearchTimes['found'] = new Map();
  const { pipeline } = index.catalog;
  const wanted = queryCounts(index, options);
  const search = async (bins: readonly ArrayLike<number>[], distance: DistanceName): Promise<Times> => {
    const vectors = bins.map((counts) => queryVector(pipeline, counts, 'frame'));
    const times = await seconds(async () => {
      found.set(`${distance} ${bins.length}`, await index.search({ queries: vectors, distance, top, unit: 'frame' }));
    });
    return { ...times, device: scan?.passSeconds };
  };
  const repeat = async (act: (i: number) => Promise<Times>): Promise<Times[]> => {
    // The first search compiles. A GPU that has idled is slow for some more.
    for (let i = 0; i < (scan ? warmUps : 1); i++) await act(i % repetitions);
    const times: Times[] = [];
    for (let i = repetitions - 1; i >= 0; i--) times.push(await act(i));
    return times;
  };
  const rows: string[][] = [];
  const add = (name: string, times: readonly Times[]): void => {
    rows.push(row(name, times));
    note(rows.at(-1)!.join('  '));
  };
  for (const distance of one) add(distance, await repeat((i) => search([wanted[i]!], distance)));
  const larger = wanted.map((bins) => bins.with(0, bins[0]! + 1));
  const others = await repeat((i) => search([larger[i]!], 'intersection'));
  add('intersection, query of another size', others);
  for (const distance of many) {
    const times = await repeat(() => search(wanted.slice(0, queries), distance));
    const each = times.map((time) => shareOf(time, queries));
    add(`${distance}, ${queries} queries at once, each`, each);
  }
  return { rows, found };
}

/** The time of scoring frames by the definition, scaled from a part of the index to all of it. */
export async function plainRow(index: SearchIndex, options: BenchSearchOptions): Promise<string[]> {
  const { pipeline } = index.catalog;
  const vectors = queryCounts(index, options).map((bins): Vector => queryVector(pipeline, bins, 'frame'));
  const some = Array.from({ length: plainFrames }, (_, i) => vectors[i % vectors.length]!);
  const plain = await seconds(async () => some.map((vector) => distances.intersection.score(some[0]!, vector)));
  return row('intersection by a plain loop, from a part', [shareOf(plain, plainFrames / options.frames)]);
}

const queryCounts = ({ catalog }: SearchIndex, options: BenchSearchOptions): Float64Array[] =>
  queryRows(options).map((at) => withoutPadding(catalog.pipeline, readFrame(catalog, at)));

const shareOf = ({ wall, processor, device }: Times, parts: number): Times => ({
  wall: wall / parts,
  processor: processor === undefined ? undefined : processor / parts,
  device: device === undefined ? undefined : device / parts,
});
