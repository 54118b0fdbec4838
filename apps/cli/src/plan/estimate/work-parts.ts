import { createHash } from 'node:crypto';
import type { PlanTotals, SourceKind } from '@halogrid/coordinator/plan';
import type { PixelType } from '@halogrid/geometry';
import { describePipeline, type Pipeline } from '@halogrid/kernels';
import type { Parts } from './cost-model.ts';
import { type CostDevice, kernelSecondsAPixel } from './kernel-costs.ts';

/** What does the work: of this machine, as far as the time depends on it. */
export interface Workers {
  nodes: number;
  device: CostDevice;
  /** Cores that all processes share. */
  cores: number;
}

/** A job's shape that its totals do not tell. */
export interface PlannedJob {
  pipelines: readonly Pipeline[];
  /** As the job's. */
  mapFormat: string;
}

/**
 * Seconds of a core for opening a file, a pixel that is decoded, and an encoded byte. See docs/benchmarks.md for how
 * they were measured.
 */
interface ReadingCost {
  open: number;
  pixel: number;
  byte: number;
}

/**
 * A line a format, for which the compiler asks. `open` of a video is that of a segment, and its planning reads all
 * bytes.
 */
const readingCosts: Record<SourceKind, ReadingCost> = {
  jpeg: { open: 0.3e-3, pixel: 1.5e-9, byte: 15e-9 },
  png: { open: 2e-3, pixel: 8e-9, byte: 4e-9 },
  webp: { open: 2e-3, pixel: 20e-9, byte: 0 },
  tiff: { open: 4e-3, pixel: 8e-9, byte: 0 },
  pnm: { open: 0.3e-3, pixel: 1e-9, byte: 0 },
  video: { open: 0.02, pixel: 2.5e-9, byte: 3e-9 },
  other: { open: 1e-3, pixel: 8e-9, byte: 0 },
};

/** Decoders of videos are started once, each on a core of its own. */
const decoderStartSeconds = 0.3;

/**
 * What remains of a job that does nearly nothing: its plan, a lease, its files, each of which is made safe on the disk.
 */
const jobSeconds = 0.3;

/**
 * What a tile costs, however small it is: on the one thread of its node that answers, on the coordinator's, and on all
 * cores together. The slowest of them holds up the rest.
 */
const tileSeconds = { node: 1.5e-3, coordinator: 0.6e-3, cores: 2.3e-3 };

/** Seconds of a core, for an input that is listed and compared, a batch of frames, a bin, a picture and its pixels. */
const inputSeconds = 50e-6;
const batchSeconds = 5e-3;
const binSeconds = 60e-9;
const previewSeconds = 5e-3;
const previewPixelSeconds = 20e-9;

/** Seconds for a byte of a map, of one thread where it is put together at the end, and for each of its files. */
const mapByteSeconds: Readonly<Record<string, number>> = { tiff: 6e-9, zarr: 10e-9, png: 25e-9, dzi: 40e-9 };
const mapFileSeconds = 2e-3;

/** Seconds a request, of which each node has some under way, and a byte, as of a network of a gigabit. */
const requestSeconds = 0.02;
const requestsAtOnce = 8;
const remoteByteSeconds = 8e-9;

const maxNameLength = 160;

/** Pixels that a thread of the cpu device computes together: see CpuDevice. */
const batchPixels = 2 ** 23;

/**
 * The parts of a job's time by the figures above, each more than 0. They add up: little of them overlaps where cores
 * are few.
 */
export function workParts(totals: PlanTotals, { pipelines, mapFormat }: PlannedJob, workers: Workers): Parts {
  const { work, shards, tiles, sources, kept, output } = totals;
  const { nodes, device, cores } = workers;
  const parts: Record<string, number> = { job: jobSeconds, inputs: inputSeconds * (work.inputs + kept) };
  // What has few pieces keeps few cores busy.
  const shared = (seconds: number, pieces: number): number => seconds / Math.max(1, Math.min(cores, pieces));
  const { node, coordinator, cores: all } = tileSeconds;
  parts.tiles = tiles * Math.max(node / Math.max(1, Math.min(nodes, cores, tiles)), coordinator, all / cores);
  parts.batches = shared(batchSeconds * (shards - tiles), shards - tiles);
  for (const [kind, { units, opens, pixels, bytes }] of Object.entries(work.kinds)) {
    const cost = readingCosts[kind as SourceKind];
    const isVideo = kind === 'video';
    parts[`open ${kind}`] = shared(cost.open * opens, units) + (isVideo && units > 0 ? decoderStartSeconds : 0);
    // The first segments are decoded while the others are still listed.
    parts[isVideo ? 'index video' : `unpack ${kind}`] = shared(cost.byte * bytes, isVideo ? cores : units);
    parts[`decode ${kind}`] = shared(cost.pixel * pixels, units);
  }
  for (const [pixel, pixels] of Object.entries(work.kernelPixels)) {
    const bits = pixel === 'u16' ? 16 : 8;
    for (const [i, pipeline] of pipelines.entries()) {
      const computed = pixels - (work.knownPixels[i]?.[pixel as PixelType] ?? 0);
      // Not rounded up: the longest piece holds up the rest, and a pixel more makes it no shorter.
      const pieces = device === 'cpu' ? Math.max(tiles, computed / batchPixels) : cores;
      const seconds = computed * kernelSecondsAPixel(pipeline.operations, device, bits);
      const name = `${device} ${shortName(pipeline)} of ${bits} bits`;
      // A GPU is one for all of this machine's nodes. Pipelines may be the same but for their names.
      parts[name] = (parts[name] ?? 0) + (device === 'gpu' ? seconds : shared(seconds, pieces));
    }
  }
  parts.histograms = binSeconds * work.bins;
  parts.previews = pipelines.length * (previewSeconds * work.previews + previewPixelSeconds * work.previewPixels);
  if (mapFormat !== 'none') {
    const computed = sources > 0 ? (sources - kept) / sources : 0;
    parts[`map ${mapFormat}`] =
      (mapByteSeconds[mapFormat] ?? 10e-9) * output.mapsBytes + mapFileSeconds * sources * computed * pipelines.length;
  }
  parts['remote files'] = (requestSeconds * work.remoteFiles) / (requestsAtOnce * nodes);
  parts['remote bytes'] = remoteByteSeconds * work.remoteBytes;
  return Object.fromEntries(Object.entries(parts).filter(([, seconds]) => seconds > 0));
}

/** The pipeline in at most so many characters that a thousand of them may be kept; a matrix may be long. */
function shortName(pipeline: Pipeline): string {
  const name = describePipeline(pipeline);
  return name.length <= maxNameLength ? name : createHash('sha256').update(name).digest('hex');
}

/** Parts that are spent for what a job is cut into, beside what it reads and computes. */
export const partsOfCut: readonly string[] = ['tiles', 'open tiff', 'open pnm', 'open other'];

/** What it takes until nodes serve: one process after another on few cores. */
export const startSeconds = ({ nodes, cores }: Omit<Workers, 'device'>): number =>
  0.5 + (0.35 * (nodes + 1)) / Math.min(cores, nodes + 1);
