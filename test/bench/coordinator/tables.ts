// What the tables of a job cost the thread that writes them, features.parquet, sources.jsonl and what job.json has of them, without
// nodes, a plan or a ledger:
//   node test/bench/coordinator/tables.ts [FRAMES] [REPETITIONS]
// Prints for each repetition microseconds of processor time a frame of 256 bins, of the thread and of the main one, seconds from the
// last result to the end of the tables, and the memory of the process.
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { writeVarints } from '@halogrid/proto/varints';
import { packSources } from '@halogrid/sources/pack-sources';
import type { FramesRun } from '../../../apps/coordinator/src/ledger/ledger.ts';
import { FrameRows } from '../../../apps/coordinator/src/log/frame-rows.ts';
import { TablesFile } from '../../../apps/coordinator/src/output/tables-file.ts';
import { tablePaths } from '../../../apps/coordinator/src/output/tables-order.ts';

const [frames = 200_000, repetitions = 3] = process.argv.slice(2).map(Number);
const shardFrames = 2048;
const shape = { grid: { rows: 1, columns: 1 }, channels: 1, bins: 256 };
const counted = 318 * 238;

/** As uneven as those of photographs, no two alike. */
const histogramOf = (seed: number): Uint32Array => {
  let state = seed + 1;
  const weights = Float64Array.from({ length: 256 }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state / 2 ** 32) ** 3;
  });
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return Uint32Array.from(weights, (weight) => (weight * counted) / sum);
};

/** The histograms of a shard and the rows of its results, as a ledger has them, and the sources of every shard behind them. */
async function writeSpool(path: string): Promise<{ countsBytes: number; rows: FrameRows; blocks: Uint8Array[] }> {
  const rows = new FrameRows(shardFrames, false);
  const counts = new Uint8Array(shardFrames * 256 * 3);
  let at = 0;
  for (let row = 0; row < shardFrames; row++) {
    const end = writeVarints(histogramOf(row), counts, at);
    rows.counted[row] = counted;
    rows.widths[row] = 320;
    rows.heights[row] = 240;
    rows.lengths[row] = end - at;
    rows.checksums[row] = crc32(counts.subarray(at, end));
    at = end;
  }
  const blocks: Uint8Array[] = [];
  for (let first = 0; first < frames; first += shardFrames) {
    const sources = Array.from({ length: Math.min(shardFrames, frames - first) }, (_, nth) => {
      const name = `2026-01-31/camera-07/frame-${String(first + nth).padStart(8, '0')}.jpg`;
      const version = `20000 17${String(first + nth).padStart(8, '0')}.25`;
      return { index: first + nth, uri: `file:///archive/${name}`, name, sizeBytes: 20_000, version };
    });
    blocks.push(packSources(sources)!);
  }
  await writeFile(path, [counts.subarray(0, at), rows.bytes, ...blocks]);
  return { countsBytes: at, rows, blocks };
}

for (let i = 0; i < repetitions; i++) {
  const folder = await mkdtemp(join(tmpdir(), 'halogrid-bench-'));
  const spool = join(folder, 'spool');
  const { countsBytes, rows, blocks } = await writeSpool(spool);
  const lengths = blocks.map(({ length }) => length);
  blocks.length = 0;
  const runs = Float64Array.of(0, shardFrames);
  const stored = { runs, isTimed: false, offset: 0, countsBytes, rowsBytes: rows.bytes.length };
  let offset = countsBytes + rows.bytes.length;
  const shards: FramesRun[] = lengths.map((length, shard) => {
    const first = shard * shardFrames;
    const planned = { file: spool, offset, length, nth: 0 };
    offset += length;
    const count = Math.min(shardFrames, frames - first);
    const kept = { stored: { ...stored, rowsChecksum: crc32(rows.bytes) }, row: 0, goesByMtime: false };
    return { kind: 'frames', file: spool, first, count, planned, ...kept, hasHistograms: true };
  });
  const pathsIn = (place: string) => tablePaths((file) => join(place, file));
  await mkdir(join(folder, 'scratch'));
  let lastMs = 0;
  const tables = new TablesFile({
    ...{ paths: pathsIn(folder), unfinished: pathsIn(join(folder, 'scratch')), shape },
    settled: async (from, atMost) => {
      const some = shards.slice(from / shardFrames, Math.ceil((from + atMost) / shardFrames));
      lastMs = performance.now();
      return { next: Math.min(frames, from + atMost), runs: some };
    },
    until: (write) => write(),
    failed: (error) => {
      throw error;
    },
  });
  const [all, main] = [process.cpuUsage(), process.threadCpuUsage()];
  const { entries } = await tables.finish(frames, {});
  const seconds = (performance.now() - lastMs) / 1000;
  const [allUsed, mainUsed] = [process.cpuUsage(all), process.threadCpuUsage(main)];
  const mainUs = (mainUsed.user + mainUsed.system) / frames;
  const threadUs = (allUsed.user + allUsed.system) / frames - mainUs;
  const bytes = (await stat(pathsIn(folder).features)).size / frames;
  console.log(
    `${entries} sources: thread ${threadUs.toFixed(2)} µs, main thread ${mainUs.toFixed(2)} µs, ends ${seconds.toFixed(2)} s after ` +
      `the last block; ${bytes.toFixed(0)} bytes a row; ${Math.round(process.resourceUsage().maxRSS / 1024)} MB`,
  );
  await rm(folder, { recursive: true });
}
process.exit();
