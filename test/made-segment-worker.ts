// A worker thread of makeLargeIndex, which writes one segment after another.
import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { randomBytes } from '@halogrid/bench/random';
import { paddedLength, rowsFile, type Segment, type StoredBlock } from '@halogrid/search';
import { serveOrders } from '@halogrid/threads';

export interface MadeSegmentOrder {
  folder: string;
  name: string;
  /** Number of its first frame among all frames of the index. */
  first: number;
  frames: number;
  channels: number;
  /** The bins of a channel. */
  bins: number;
}

/** Counted pixels of a frame: 1920 x 1080 without a border of one pixel. */
const counted = 1918 * 1078;
/** The counts of a block, as many as a SegmentWriter has. */
const blockCounts = 2 ** 20;

serveOrders((order: MadeSegmentOrder): Segment => {
  const { folder, name, frames } = order;
  const blocks = writeBlocks(order);
  const uri = Buffer.from(`file:///archive/camera-1/${name}.mp4`);
  const rows = rowsFile({
    capturedAtMs: new Float64Array(frames).fill(Number.NaN),
    timestampMs: Float64Array.from({ length: frames }, (_, i) => 40 * i),
    masses: new Float64Array(frames).fill(order.channels * counted),
    source: new Uint32Array(frames),
    camera: new Uint32Array(frames).fill(2 ** 32 - 1),
    frame: Uint32Array.from({ length: frames }, (_, i) => i),
    textEnds: Uint32Array.of(uri.length),
    textBytes: uri,
  });
  writeFileSync(join(folder, `${name}.rows`), rows);
  const job = { id: name, digest: name, out: 'file:///made', sources: name, frames };
  return { name, jobs: [job], frames, rows: { texts: 1, bytes: rows.length, crc32: crc32(rows) }, blocks };
});

function writeBlocks({ folder, name, first, frames, channels, bins }: MadeSegmentOrder): StoredBlock[] {
  const length = paddedLength(channels * bins);
  const blockFrames = Math.floor(blockCounts / length);
  const noise = randomBytes(2 ** 20 + 1, first + 1);
  const weights = Float64Array.from({ length: bins }, (_, bin) => 1 / (1 + ((bin * 37) % bins) ** 0.9));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const usual = weights.map((weight) => (0.7 * counted * weight) / sum);
  const drifts = randomBytes(bins, 1);
  const file = openSync(join(folder, `${name}.bins`), 'wx');
  const blocks: StoredBlock[] = [];
  let at = 0;
  for (let begin = 0; begin < frames; begin += blockFrames) {
    const counts = new Uint32Array(Math.min(blockFrames, frames - begin) * length);
    for (let row = 0; row < counts.length; row += length) {
      const phase = Math.sin((first + begin + row / length) / 2000) / 430;
      for (let channel = 0; channel < channels; channel++) {
        const from = row + channel * bins;
        let left = counted;
        for (let bin = 1; bin < bins; bin++) {
          if (++at === noise.length) at = 0;
          const count = (usual[bin]! * (1 + drifts[bin]! * phase + noise[at]! / 2560)) | 0;
          counts[from + bin] = count;
          left -= count;
        }
        counts[from] = left;
      }
    }
    const bytes = new Uint8Array(counts.buffer);
    for (let written = 0; written < bytes.length; ) written += writeSync(file, bytes, written);
    blocks.push({ frames: counts.length / length, width: 4, crc32: crc32(bytes) });
  }
  closeSync(file);
  return blocks;
}
