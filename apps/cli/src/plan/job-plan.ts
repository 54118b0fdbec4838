import { availableParallelism } from 'node:os';
import type { PlanTotals } from '@halogrid/coordinator/plan';
import type { DeviceChoice } from '../options/option-values.ts';
import { basisOf, type TimeEstimate } from './estimate/estimate-time.ts';

/** What is said of a plan; `--json` prints it as it is. Bytes are at most: what is compressed takes fewer. */
export interface JobPlan {
  sources: number;
  /** Sources whose results are kept from the last run with the same output folder: their pixels do not count here. */
  kept: number;
  /** Sources that are no images, and sources whose size only decoding them would tell. */
  quarantined: number;
  unknown: number;
  pixels: number;
  shards: number;
  /** Shards that are tiles of images that are cut. */
  tiles: number;
  /** Shards that are segments of videos, and the frames in them. */
  segments: number;
  videoFrames: number;
  /** Pixels read around tiles, for every hundred that are computed. */
  haloPercent: number;
  /** Memory for planes and results, beside what a process takes anyway. */
  nodeMemoryBytes: number;
  output: { mapsBytes: number; featuresBytes: number; histogramBytes: number };
  /** In the output folder until the job is complete. */
  scratchBytes: number;
  /** Seconds of the job, from its submission to its end. */
  estimatedSeconds: number;
  /** How sure that is, and what comes before. */
  estimate: TimeEstimate & { /** What it is based on, a clause. */ basis: string };
  /** A sentence on what makes the job slow for nothing; null where nothing does. */
  advice: string | null;
}

/** What runs the plan, as `run` is told. */
export interface PlannedRun {
  nodes: number;
  device: DeviceChoice;
  /** That compute while it is planned, and are not what the machine does else. */
  ownThreads: number;
}

export function jobPlan(
  totals: PlanTotals,
  { device }: PlannedRun,
  { estimate, advice }: { estimate: TimeEstimate; advice: string | undefined },
): JobPlan {
  const {
    sources,
    kept,
    quarantined,
    unknown,
    pixels,
    shards,
    tiles,
    segments,
    videoFrames,
    haloPixels,
    batch,
    all,
    output,
    scratchBytes,
  } = totals;
  // A shard of frames may be several batches, of which two are under way.
  const batches = Math.min(inFlight(device, availableParallelism()), 2 * shards - tiles);
  return {
    ...{ sources, kept, quarantined, unknown, pixels, shards, tiles, segments, videoFrames },
    haloPercent: pixels > 0 ? (100 * haloPixels) / pixels : 0,
    nodeMemoryBytes:
      Math.min(batches * batch.stagingBytes, all.stagingBytes) +
      Math.min(batches * batch.resultsBytes, all.resultsBytes),
    output,
    scratchBytes,
    estimatedSeconds: estimate.seconds,
    estimate: { ...estimate, basis: basisOf(estimate) },
    advice: advice ?? null,
  };
}

/** Batches that a device has in flight at most. */
function inFlight(device: DeviceChoice, cores: number): number {
  const cpu = Math.max(4, cores + 2);
  return { gpu: 8, software: 2, cpu, auto: Math.max(8, cpu) }[device];
}
