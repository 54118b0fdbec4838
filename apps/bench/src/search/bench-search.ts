import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type DistanceName,
  distanceNames,
  distances,
  IndexWriter,
  queryVector,
  readFinishedJob,
  readFrame,
  SearchIndex,
  type Vector,
  withoutPadding,
} from '@halogrid/search';
import { table } from '@halogrid/service/text-table';
import { spreadOf } from '../timing/statistics.ts';
import { makeFeatures } from './made-features.ts';

export interface BenchSearchOptions {
  /** Frames of the index. */
  frames: number;
  kernel: 'lbp' | 'ldp';
  /** Searches of each kind. */
  repetitions: number;
  /** Queries that are searched for at once, besides one. */
  queries: number;
}

const top = 10;

/** Frames that the plain loop scores. */
const plainFrames = 2_000;

/** Makes an index in a temporary folder, searches it, and gives a table of the times. */
export async function benchSearch(options: BenchSearchOptions, note: (line: string) => void): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'halogrid-bench-search-'));
  try {
    note(`Making the features of ${options.frames} frames in ${folder} …`);
    await makeFeatures(folder, options.kernel, options.frames);
    note('Making the index …');
    const made = await seconds(() => makeIndex(folder, join(folder, 'index')));
    const peak = process.resourceUsage().maxRSS * 1024;
    note('Searching …');
    const rows = await searchIndex(join(folder, 'index'), options);
    const machine = `${cpus()[0]?.model.trim()}, ${availableParallelism()} threads`;
    const head = [
      ['', 'median', 'shortest', 'longest', 'processor'],
      ['index from Parquet', `${made.wall.toFixed(2)} s`, '', '', `${made.processor.toFixed(2)} s`],
    ];
    const memory = `Memory of the process while it made the index: ${(peak / 1e6).toFixed(0)} MB at most.\n`;
    return `${options.frames} frames of ${options.kernel}, ${options.repetitions} searches each (${machine}):\n${table([...head, ...rows], '  ')}${memory}`;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function makeIndex(out: string, folder: string): Promise<void> {
  const writer = await IndexWriter.open(folder);
  await writer.add(await readFinishedJob(out));
  writer.close();
}

async function searchIndex(folder: string, { frames, repetitions, queries }: BenchSearchOptions): Promise<string[][]> {
  const opened = [];
  for (let i = 0; i < repetitions; i++)
    opened.push(await seconds(async () => (await SearchIndex.open(folder)).close()));
  const index = await SearchIndex.open(folder);
  try {
    const { catalog } = index;
    const { pipeline } = catalog;
    const binsOf = (row: number): Float64Array => withoutPadding(pipeline, readFrame(catalog, row));
    const of = (bins: ArrayLike<number>): Vector => queryVector(pipeline, bins, 'frame');
    // Spread over the index, and the same in every run.
    const wanted = Array.from({ length: Math.max(queries, repetitions) }, (_, i) => binsOf((i * 7919) % frames));
    const search = (vectors: Vector[], distance: DistanceName) =>
      index.search({ queries: vectors, distance, top, unit: 'frame' });
    await search([of(wanted[0]!)], 'intersection');
    const rows = [row('open', opened)];
    for (const distance of distanceNames) {
      const times: Times[] = [];
      for (let i = 0; i < repetitions; i++) times.push(await seconds(() => search([of(wanted[i]!)], distance)));
      rows.push(row(distance, times));
    }
    const larger = wanted.map((bins) => bins.with(0, bins[0]! + 1));
    const others: Times[] = [];
    for (let i = 0; i < repetitions; i++) others.push(await seconds(() => search([of(larger[i]!)], 'intersection')));
    rows.push(row('intersection, query of another size', others));
    const many = await seconds(() => search(wanted.slice(0, queries).map(of), 'intersection'));
    rows.push(
      row(`intersection, ${queries} queries at once, each`, [
        { wall: many.wall / queries, processor: many.processor / queries },
      ]),
    );
    const some = Array.from({ length: plainFrames }, (_, i) => of(wanted[i % wanted.length]!));
    const plain = await seconds(async () => some.map((vector) => distances.intersection.score(some[0]!, vector)));
    const factor = frames / plainFrames;
    rows.push(
      row('intersection by a plain loop, from a part', [
        { wall: plain.wall * factor, processor: plain.processor * factor },
      ]),
    );
    return rows;
  } finally {
    await index.close();
  }
}

interface Times {
  wall: number;
  /** The sum of all threads. */
  processor: number;
}

async function seconds(act: () => Promise<unknown>): Promise<Times> {
  const [start, used] = [performance.now(), process.cpuUsage()];
  await act();
  const { user, system } = process.cpuUsage(used);
  return { wall: (performance.now() - start) / 1000, processor: (user + system) / 1e6 };
}

function row(name: string, times: readonly Times[]): string[] {
  const { median, min, max } = spreadOf(times.map(({ wall }) => wall));
  const processor = spreadOf(times.map((time) => time.processor)).median;
  return [name, ...[median, min, max, processor].map((time) => `${time.toFixed(3)} s`)];
}
