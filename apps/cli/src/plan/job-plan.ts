import type { PlanTotals } from '@halogrid/coordinator/plan';
import { coresHere } from '@halogrid/threads/limits';
import type { DeviceChoice } from '../options/option-values.ts';
import { basisOf, type TimeEstimate } from './estimate/estimate-time.ts';

/** The plan that is shown; `--json` prints it unchanged. Bytes are upper limits: compressed files take fewer. */
export interface JobPlan {
  sources: number;
  /**
   * Sources whose results are kept from the last run with the same output folder. Their pixels are not counted here.
   */
  kept: number;
  /** Sources that are not images, and sources whose size is known only after decoding. */
  quarantined: number;
  unknown: number;
  pixels: number;
  shards: number;
  /** Shards that are tiles of an image. */
  tiles: number;
  /** Shards that are segments of videos, and the frames in them. */
  segments: number;
  videoFrames: number;
  /** Pixels that are read around tiles, in percent of the computed ones. */
  haloPercent: number;
  /** Memory for planes and results, in addition to what a node takes anyway. */
  nodeMemoryBytes: number;
  output: { mapsBytes: number; featuresBytes: number; histogramBytes: number };
  /** Bytes in the output folder until the job is complete. */
  scratchBytes: number;
  /** Seconds of the job, from its submission to its end. */
  estimatedSeconds: number;
  /** How certain that is, and the time to start. */
  estimate: TimeEstimate & { /** A clause that says what it is based on. */ basis: string };
  /** A sentence about an option that makes the job needlessly slow; null if there is none. */
  advice: string | null;
}

/** What the plan is for: nodes and device as for `run`. */
export interface PlannedRun {
  nodes: number;
  device: DeviceChoice;
  /** Threads of ours that compute while the job is planned. They do not count as other programs. */
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
  // A shard of frames may have several batches; two of them are computed at a time.
  const batches = Math.min(inFlight(device, coresHere()), 2 * shards - tiles);
  return {
    sources,
    kept,
    quarantined,
    unknown,
    pixels,
    shards,
    tiles,
    segments,
    videoFrames,
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

/** Batches that a device has in memory at once, at most. */
function inFlight(device: DeviceChoice, cores: number): number {
  const cpu = Math.max(4, cores + 2);
  return { gpu: 8, software: 2, cpu, auto: Math.max(8, cpu) }[device];
}
