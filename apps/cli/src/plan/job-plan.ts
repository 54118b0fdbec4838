import type { PlanTotals } from '@halogrid/coordinator/plan';
import { coresHere } from '@halogrid/threads/limits';
import type { DeviceChoice } from '../options/option-values.ts';
import { basisOf, type TimeEstimate } from './estimate/estimate-time.ts';

/** Totals of the plan that are shown as they are. */
const shownTotals = [
  'sources',
  'kept',
  'quarantined',
  'unknown',
  'pixels',
  'shards',
  'tiles',
  'segments',
  'videoFrames',
  'output',
  'scratchBytes',
] as const satisfies (keyof PlanTotals)[];
type ShownTotals = Pick<PlanTotals, (typeof shownTotals)[number]>;

/** The plan that is shown; `--json` prints it unchanged. Bytes are upper limits: compressed files take fewer. */
export interface JobPlan extends ShownTotals {
  /** Pixels that are read around tiles, in percent of the computed ones. */
  haloPercent: number;
  /** Memory for planes and results, in addition to what a node takes anyway. */
  nodeMemoryBytes: number;
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
  const { pixels, shards, tiles, haloPixels, batch, all } = totals;
  // A shard of frames may have several batches; two of them are computed at a time.
  const batches = Math.min(inFlight(device, coresHere()), 2 * shards - tiles);
  const shown = Object.fromEntries(shownTotals.map((name) => [name, totals[name]])) as unknown as ShownTotals;
  return {
    ...shown,
    haloPercent: pixels > 0 ? (100 * haloPixels) / pixels : 0,
    nodeMemoryBytes:
      Math.min(batches * batch.stagingBytes, all.stagingBytes) +
      Math.min(batches * batch.resultsBytes, all.resultsBytes),
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
