import type { PlanTotals } from '@halogrid/coordinator/plan';
import { JobState, type JobStatus, type NodeStatus } from '@halogrid/proto';
import type { DeviceChoice } from '../../options/option-values.ts';
import { isCostDevice } from './kernel-costs.ts';
import { type KeptRun, keepRun } from './run-records.ts';
import { thisMachine } from './this-machine.ts';
import { type JobSetup, startSeconds, workParts } from './work-parts.ts';

/** What a run remembers of its plan. */
export interface RunCosts {
  /** The totals of the plan; they may grow until the run has ended. */
  totals: PlanTotals;
  setup: JobSetup;
  /** The slowdown when the run was planned: see slowdownBy. */
  slowdown: Promise<number>;
}

export interface EndedRun {
  costs: RunCosts;
  nodes: readonly Pick<NodeStatus, 'device'>[];
  /** The device that was asked for. */
  asked: DeviceChoice;
  /** Seconds until the nodes served. */
  startSeconds: number;
}

/** The largest share of quarantined inputs of a run to remember: with more, a job did less than was planned. */
const maxQuarantined = 0.1;

/** Remembers the time of a job on this machine, if it did all that was planned. */
export async function rememberRun(job: JobStatus, run: EndedRun): Promise<void> {
  const kept = runToKeep(job, run, await run.costs.slowdown);
  if (kept) await keepRun(kept);
}

/** The run as it is remembered; undefined if it says nothing about other runs. */
export function runToKeep(job: JobStatus, run: EndedRun, slowdown: number): KeptRun | undefined {
  const { costs, nodes, asked } = run;
  const counts = job.counts!;
  const isWhole = counts.frames > 0 && counts.quarantined <= maxQuarantined * counts.sources && !counts.kept;
  const [device, ...others] = new Set(nodes.map((node) => node.device?.kind));
  const seconds = (job.finishedMs - job.submittedMs) / 1000;
  const totals = scaleTotals(costs.totals, counts);
  if (job.state !== JobState.COMPLETE || !isWhole || seconds <= 0 || !totals) return undefined;
  if (others.length > 0 || !isCostDevice(device)) return undefined;
  const parts = workParts(totals, costs.setup, device);
  const startFactor = run.startSeconds / (slowdown * startSeconds(costs.setup));
  return { machine: thisMachine(), device, isChosen: asked === 'auto', parts, seconds, slowdown, startFactor };
}

/** The counts of a job that has ended. */
type FinalCounts = Pick<NonNullable<JobStatus['counts']>, 'sources' | 'shards' | 'pixels'>;

/**
 * The totals of a whole job from the totals of a part of its plan, as if the rest were like that part: a large archive
 * runs before all of it is planned. Undefined if the part is empty.
 */
export function scaleTotals(totals: PlanTotals, { sources, shards, pixels }: FinalCounts): PlanTotals | undefined {
  const { work, output } = totals;
  const planned = work.kernelPixels.u8 + work.kernelPixels.u16 - totals.haloPixels;
  if (planned <= 0 || totals.shards === 0) return undefined;
  const [by, byShards] = [pixels / planned, shards / totals.shards];
  const mapsBytes = (output.mapsBytes * pixels) / Math.max(totals.pixels, planned);
  return {
    ...totals,
    sources,
    shards,
    pixels,
    tiles: totals.tiles * byShards,
    segments: totals.segments * byShards,
    output: { ...output, mapsBytes },
    // A job has few previews, however many sources it has.
    work: { ...times(work, by), previews: work.previews, previewPixels: work.previewPixels },
  };
}

/** A copy of `value` with every number in it multiplied by `by`. */
function times<T>(value: T, by: number): T {
  const scaled = (inner: unknown): unknown => {
    if (typeof inner === 'number') return inner * by;
    if (Array.isArray(inner)) return inner.map(scaled);
    return Object.fromEntries(Object.entries(inner as object).map(([name, each]) => [name, scaled(each)]));
  };
  return scaled(value) as T;
}
