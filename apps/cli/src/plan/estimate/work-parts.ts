import { createHash } from 'node:crypto';
import type { PlanTotals, SourceKind } from '@halogrid/coordinator/plan';
import type { PixelType } from '@halogrid/geometry';
import { describePipeline, type Pipeline } from '@halogrid/kernels';
import { type CostDevice, kernelSecondsAPixel } from './kernel-costs.ts';

/** The time of a job by the constants of the program: seconds of named parts, which add up to it. */
export type Parts = Readonly<Record<string, number>>;

/** What the time of a job depends on beside its totals and the device. */
export interface JobSetup {
  pipelines: readonly Pipeline[];
  mapFormat: string;
  /** Nodes of this machine, and the cores that all processes share. */
  nodes: number;
  cores: number;
}

/**
 * Seconds of a core for opening a file (of a video: a segment), for a decoded pixel, and for an encoded byte (of a
 * video: for the plan, which reads all bytes). lab/notes/estimates.md says how they were measured.
 */
const readingCosts: Record<SourceKind, { open: number; pixel: number; byte: number }> = {
  jpeg: { open: 0.3e-3, pixel: 1.5e-9, byte: 15e-9 },
  png: { open: 2e-3, pixel: 8e-9, byte: 4e-9 },
  webp: { open: 2e-3, pixel: 20e-9, byte: 0 },
  tiff: { open: 4e-3, pixel: 8e-9, byte: 0 },
  pnm: { open: 0.3e-3, pixel: 1e-9, byte: 0 },
  bmp: { open: 0.3e-3, pixel: 3e-9, byte: 0 },
  gif: { open: 2e-3, pixel: 8e-9, byte: 4e-9 },
  avif: { open: 2e-3, pixel: 20e-9, byte: 0 },
  jp2: { open: 4e-3, pixel: 200e-9, byte: 0 },
  // As blocks of a TIFF, which are compressed as well.
  zarr: { open: 4e-3, pixel: 8e-9, byte: 0 },
  // By OpenSlide, in a process of its own.
  slide: { open: 10e-3, pixel: 20e-9, byte: 0 },
  video: { open: 0.02, pixel: 2.5e-9, byte: 3e-9 },
  other: { open: 1e-3, pixel: 8e-9, byte: 0 },
};

/** Starting the decoders of videos, once, each on a core of its own. */
const decoderStartSeconds = 0.3;

/** The cost of a job that does nearly nothing: its plan, a lease, and its files, each synced to the disk. */
const jobSeconds = 0.3;

/** The cost of a tile of any size, on a thread of its node, on one of the coordinator, and on all cores together. */
const tileSeconds = { node: 1.5e-3, coordinator: 0.6e-3, cores: 2.3e-3 };

/** Seconds of a core for a listed and compared input, a batch of frames, a bin, a preview, and a pixel of a preview. */
const inputSeconds = 50e-6;
const batchSeconds = 5e-3;
const binSeconds = 60e-9;
const previewSeconds = 5e-3;
const previewPixelSeconds = 20e-9;

/** Seconds of one thread for a byte of a map when maps are assembled at the end, and for each of their files. */
const mapByteSeconds: Readonly<Record<string, number>> = {
  tiff: 6e-9,
  'tiff:deflate': 150e-9,
  zarr: 10e-9,
  'zarr:zstd': 60e-9,
  png: 25e-9,
  dzi: 40e-9,
};
const mapFileSeconds = 2e-3;

/** Seconds per request, requests that a node has open at once, and seconds per byte, as in a network of one gigabit. */
const requestSeconds = 0.02;
const requestsAtOnce = 8;
const remoteByteSeconds = 8e-9;

const maxNameLength = 160;

/** Pixels that a thread of the cpu device computes as one piece: see CpuDevice. */
const batchPixels = 2 ** 23;

/**
 * The parts of a job's time by the constants above, each more than 0. They are added up, because little of them
 * overlaps on few cores.
 */
export function workParts(totals: PlanTotals, setup: JobSetup, device: CostDevice): Parts {
  const { work, shards, tiles, sources, kept, output } = totals;
  const { pipelines, mapFormat, nodes, cores } = setup;
  const parts: Record<string, number> = { job: jobSeconds, inputs: inputSeconds * (work.inputs + kept) };
  // Work in few pieces keeps few cores busy.
  const shared = (seconds: number, pieces: number): number => seconds / Math.max(1, Math.min(cores, pieces));
  const { node, coordinator, cores: all } = tileSeconds;
  // The slowest of the three counts.
  parts.tiles = tiles * Math.max(node / Math.max(1, Math.min(nodes, cores, tiles)), coordinator, all / cores);
  parts.batches = shared(batchSeconds * (shards - tiles), shards - tiles);
  for (const [kind, { units, opens, pixels, bytes }] of Object.entries(work.kinds)) {
    const cost = readingCosts[kind as SourceKind];
    const isVideo = kind === 'video';
    parts[`open ${kind}`] = shared(cost.open * opens, units) + (isVideo && units > 0 ? decoderStartSeconds : 0);
    // The first segments are decoded while the rest is still listed.
    parts[isVideo ? 'index video' : `unpack ${kind}`] = shared(cost.byte * bytes, isVideo ? cores : units);
    parts[`decode ${kind}`] = shared(cost.pixel * pixels, units);
  }
  for (const [pixel, pixels] of Object.entries(work.kernelPixels)) {
    const bits = pixel === 'u16' ? 16 : 8;
    for (const [i, pipeline] of pipelines.entries()) {
      const computed = pixels - (work.knownPixels[i]?.[pixel as PixelType] ?? 0);
      // Not rounded up: the longest piece counts, and one more pixel does not make it shorter.
      const pieces = device === 'cpu' ? Math.max(tiles, computed / batchPixels) : cores;
      const bands = pipeline.bands?.length ?? 1;
      const seconds = computed * bands * kernelSecondsAPixel(pipeline.operations, device, bits);
      const name = `${device} ${shortName(pipeline)} of ${bits} bits`;
      // All nodes of this machine share one GPU. Pipelines may be equal except for their names.
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

/** A name of the pipeline that is short enough to keep a thousand of them: its matrix may be long. */
function shortName(pipeline: Pipeline): string {
  const name = describePipeline(pipeline);
  return name.length <= maxNameLength ? name : createHash('sha256').update(name).digest('hex');
}

/** Parts that depend on the number of pieces that a job is cut into, and not only on what it reads and computes. */
export const partsOfCut: readonly string[] = ['tiles', 'open tiff', 'open pnm', 'open other'];

/** Seconds until nodes serve. On few cores, processes start one after another. */
export const startSeconds = ({ nodes, cores }: Pick<JobSetup, 'nodes' | 'cores'>): number =>
  0.5 + (0.35 * (nodes + 1)) / Math.min(cores, nodes + 1);
