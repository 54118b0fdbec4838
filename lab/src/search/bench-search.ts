import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { openGpuScan, scanOn } from '@halogrid/gpu-node/search';
import { distanceNames, type GpuScan, IndexWriter, readFinishedJob, SearchIndex } from '@halogrid/search';
import { table } from '@halogrid/service/text-table';
import { makeLargeIndex } from '../../../test/made-index.ts';
import type { BenchSearchOptions } from './bench-search-options.ts';
import { makeFeatures } from './made-features.ts';
import { row, seconds, type Times } from './measured-row.ts';
import { peerRows } from './peer-rows.ts';
import { readOnce } from './read-once.ts';
import { plainRow, searchRows } from './search-rows.ts';

/** Shows a line to people who wait. */
type Note = (line: string) => void;

const head = ['', 'median', 'shortest', 'longest', 'processor', 'device'];

/** Makes an index in a temporary folder and searches it on a device. Returns a table of the times. */
export async function benchSearch(options: BenchSearchOptions, note: Note): Promise<string> {
  const { frames, kernel, direct, device, repetitions } = options;
  const folder = await mkdtemp(join(tmpdir(), 'halogrid-bench-search-'));
  try {
    const index = join(folder, 'index');
    const rows = [head];
    if (direct) {
      note(`Making an index of ${frames} frames in ${folder} …`);
      await makeLargeIndex(index, kernel, frames);
    } else rows.push(...(await indexFeatures(folder, index, options, note)));
    note('Searching …');
    const opened = [];
    for (let i = 0; i < repetitions; i++)
      opened.push(await seconds(async () => (await SearchIndex.open(index)).close()));
    rows.push(
      row('open', opened),
      ...(await searchOn(index, options, note)),
      ...(await peerRows(index, options, note)),
    );
    const machine = `${cpus()[0]?.model.trim()}, ${availableParallelism()} threads`;
    return `${frames} frames of ${kernel} on the ${device}, ${repetitions} searches each (${machine}):\n${table(rows, '  ')}`;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Makes features as a job writes them, and an index of these. */
async function indexFeatures(
  folder: string,
  index: string,
  { frames, kernel }: BenchSearchOptions,
  note: Note,
): Promise<string[][]> {
  note(`Making the features of ${frames} frames in ${folder} …`);
  await makeFeatures(folder, kernel, frames);
  note('Making the index …');
  const made = await seconds(async () => {
    const writer = await IndexWriter.open(index);
    await writer.add(await readFinishedJob(folder));
    writer.close();
  });
  note(`Memory of the process until then: ${((process.resourceUsage().maxRSS * 1024) / 1e6).toFixed(0)} MB at most`);
  return [row('index from Parquet', [made])];
}

async function searchOn(folder: string, options: BenchSearchOptions, note: Note): Promise<string[][]> {
  const { device } = options;
  if (device === 'gpu' || device === 'software') return await searchOnGpu(folder, device, options, note);
  return await withIndex(await SearchIndex.openWith(folder, scanOn(device)), async (index) => {
    const { rows } = await searchRows(index, options, { one: distanceNames, many: ['intersection'], note });
    return [...rows, await plainRow(index, options)];
  });
}

/** The same on a GPU, and some searches on the threads of this machine for comparison. */
async function searchOnGpu(
  folder: string,
  device: 'gpu' | 'software',
  options: BenchSearchOptions,
  note: Note,
): Promise<string[][]> {
  let scan: GpuScan | undefined;
  const start = performance.now();
  const index = await SearchIndex.openWith(folder, async (catalog) => {
    scan = await openGpuScan(device, catalog, { note });
    return scan;
  });
  const loaded = { wall: (performance.now() - start) / 1000 };
  note(`Loaded in ${loaded.wall.toFixed(1)} s`);
  const [held, searched] = await withIndex(index, async () => [
    await deviceRows(scan!, loaded, options),
    await searchRows(index, options, { one: distanceNames, many: distanceNames, scan, note }),
  ]);
  note('Searching on threads …');
  const compared = await withIndex(await SearchIndex.open(folder), (threaded) =>
    searchRows(threaded, { ...options, repetitions: 1 }, { one: distanceNames, many: ['intersection'], note }),
  );
  for (const [search, found] of compared.found) {
    if (!isDeepStrictEqual(found, searched.found.get(search)))
      throw new Error(`The ${device} has found something else than threads: ${search}`);
  }
  return [...held, ...searched.rows, ...compared.rows.map(([name, ...cells]) => [`on threads: ${name}`, ...cells])];
}

/** Rows for loading an index into a device, and for reading all of it there once. */
async function deviceRows(scan: GpuScan, loaded: Times, { repetitions }: BenchSearchOptions): Promise<string[][]> {
  const bytes = scan.shelves.reduce((sum, { bins }) => sum + bins.size, 0);
  await readOnce(scan, 1);
  const times = await readOnce(scan, repetitions);
  const reading = row(
    `reading its ${(bytes / 1e9).toFixed(2)} GB once`,
    times.map((wall) => ({ wall, device: wall })),
  );
  const rate = bytes / Math.min(...times) / 1e12;
  return [
    row(`loading it into ${scan.shelves.length} buffers`, [loaded]),
    reading,
    [`the same by the device's clock: ${rate.toFixed(2)} TB/s`, '', '', '', '', ''],
  ];
}

async function withIndex<T>(index: SearchIndex, use: (index: SearchIndex) => Promise<T>): Promise<T> {
  try {
    return await use(index);
  } finally {
    await index.close();
  }
}
