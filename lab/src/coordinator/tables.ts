// Measures what it costs to make the tables of a job from the parts of nodes: features.parquet, sources.jsonl and the
// sources in job.json. There are no nodes, no plan and no log. A part has 64 shards of 128 frames.
//   npm run lab -- tables [FRAMES] [REPETITIONS] [THREADS]
// Prints for each repetition: frames of 256 bins a second; microseconds of processor time a frame, of the threads that
// make the tables (THREADS at most) and of the main thread; seconds from the last request for sources to the end of the
// tables; and the memory of the process.
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FoundRun } from '@halogrid/ledger';
import { type FoundInPart, PartWriter } from '@halogrid/results/part-writer';
import { packSources } from '@halogrid/sources/pack-sources';
import { TablesFile } from '../../../apps/coordinator/src/output/tables-file.ts';
import { tablePaths } from '../../../apps/coordinator/src/output/tables-order.ts';

const [frames = 200_000, repetitions = 3, threads] = process.argv.slice(2).map(Number);
const shardFrames = 128;
const partShards = 64;
const bins = 256;
const pipeline = { name: '', shape: { grid: { rows: 1, columns: 1 }, channels: 1, bins } };
const counted = 318 * 238;

/** Histograms as uneven as the histograms of photographs, all different. */
const histogramOf = (seed: number): Uint32Array => {
  let state = seed + 1;
  const weights = Float64Array.from({ length: bins }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state / 2 ** 32) ** 3;
  });
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const counts = Uint32Array.from(weights, (weight) => (weight * counted) / sum);
  counts[0]! += counted - counts.reduce((total, count) => total + count, 0);
  return counts;
};

/** The histograms of a part. All parts have the same. */
const histograms = new Uint32Array(partShards * shardFrames * bins);
for (let row = 0; row < partShards * shardFrames; row++) histograms.set(histogramOf(row), row * bins);

const countOf = (shard: number): number => Math.min(shardFrames, frames - shard * shardFrames);

function blockOf(shard: number): Uint8Array {
  const first = shard * shardFrames;
  const sources = Array.from({ length: countOf(shard) }, (_, nth) => {
    const name = `2026-01-31/camera-07/frame-${String(first + nth).padStart(8, '0')}.jpg`;
    const version = `20000 17${String(first + nth).padStart(8, '0')}.25`;
    return { index: first + nth, uri: `file:///archive/${name}`, name, sizeBytes: 20_000, version };
  });
  return packSources(sources)!;
}

/** Adds a shard with its own range of the part's histograms. */
function addShard(writer: PartWriter, shard: number, block: Uint8Array): Promise<FoundInPart> {
  const count = countOf(shard);
  const from = (shard % partShards) * shardFrames * bins;
  return writer.add({
    block,
    found: Uint32Array.from({ length: count }, (_, nth) => nth),
    widths: new Uint32Array(count).fill(320),
    heights: new Uint32Array(count).fill(240),
    parts: [{ counted: new Float64Array(count).fill(counted), bins: histograms.subarray(from, from + count * bins) }],
  });
}

/** Writes the parts, and the blocks of their shards into a file like a log. */
async function writeParts(parts: string, log: string): Promise<FoundRun[]> {
  const runs: FoundRun[] = [];
  const blocks: Uint8Array[] = [];
  let offset = 0;
  for (let first = 0; first * shardFrames < frames; first += partShards) {
    const writer = await PartWriter.create(parts, [pipeline]);
    for (let shard = first; shard < first + partShards && countOf(shard) > 0; shard++) {
      const block = blockOf(shard);
      const planned = { file: log, offset, length: block.length, nth: 0 };
      const found = await addShard(writer, shard, block);
      runs.push({ kind: 'found', first: shard * shardFrames, count: countOf(shard), planned, found, shard });
      blocks.push(block);
      offset += block.length;
    }
    await writer.finish();
  }
  await writeFile(log, blocks);
  return runs;
}

for (let i = 0; i < repetitions; i++) {
  const folder = await mkdtemp(join(tmpdir(), 'halogrid-bench-'));
  await mkdir(join(folder, 'scratch'));
  const [parts, growing] = ['parts', 'tables'].map((name) => join(folder, 'scratch', name)) as [string, string];
  const shards = await writeParts(parts, join(folder, 'log'));
  const pathsIn = (place: string) => tablePaths((file) => join(place, file));
  let lastMs = 0;
  const tables = new TablesFile({
    parts,
    growing,
    pipelines: [{ ...pipeline, paths: pathsIn(folder), unfinished: pathsIn(growing), line: 'bench' }],
    settled: async (from, atMost) => {
      lastMs = performance.now();
      const runs = shards.slice(from / shardFrames, Math.ceil((from + atMost) / shardFrames));
      return { next: Math.min(frames, from + atMost), runs };
    },
    until: (write) => write(),
    threads,
    failed: (error) => {
      throw error;
    },
  });
  const [all, main] = [process.cpuUsage(), process.threadCpuUsage()];
  const startMs = performance.now();
  const [summary] = await tables.finish(frames, [{}]);
  const rate = (1000 * frames) / (performance.now() - startMs);
  const seconds = (performance.now() - lastMs) / 1000;
  const [allUsed, mainUsed] = [process.cpuUsage(all), process.threadCpuUsage(main)];
  const mainUs = (mainUsed.user + mainUsed.system) / frames;
  const threadUs = (allUsed.user + allUsed.system) / frames - mainUs;
  const bytes = (await stat(pathsIn(folder).features)).size / frames;
  console.log(
    `${summary!.entries} sources: ${Math.round(rate)} a second; threads ${threadUs.toFixed(2)} µs, main thread ${mainUs.toFixed(2)} µs, ends ${seconds.toFixed(2)} s after ` +
      `the last block; ${bytes.toFixed(0)} bytes a row; ${Math.round(process.resourceUsage().maxRSS / 1024)} MB`,
  );
  await rm(folder, { recursive: true });
}
process.exit();
