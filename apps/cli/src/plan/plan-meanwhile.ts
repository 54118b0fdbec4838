import { setTimeout as delay, setImmediate } from 'node:timers/promises';
import type { PlanTotals } from '@halogrid/coordinator/plan';
import type { JobSpec } from '@halogrid/proto';
import { UsageError } from '@halogrid/service';
import type { RunCosts } from './estimate/remember-run.ts';
import type { PlannedRun } from './job-plan.ts';
import type { MadePlan, makePlan } from './make-plan.ts';

type MakePlan = (...given: Parameters<typeof makePlan>) => Promise<MadePlan>;

/** What is known of a plan when the run begins. */
export interface Meanwhile {
  /**
   * A sentence about an option that makes the job needlessly slow, by the totals so far; undefined if there is none.
   */
  advice: string | undefined;
  /** The whole plan; undefined if the time was too short, or it failed. */
  made: MadePlan | undefined;
  /** The costs; undefined if the plan has not begun. */
  costs: RunCosts | undefined;
}

/** The planner is loaded while the nodes start, with all that it needs. */
const makeHere: MakePlan = async (...given) => (await import('./make-plan.ts')).makePlan(...given);

/** The least time for a plan. Most plans take far less, even if the machine is busy and the nodes start quickly. */
const leastTimeMs = 3_000;

/**
 * A plan is not waited for if it has more sources, unless its results need room that may be missing. The headers of
 * 24,000 JPEGs took 3 s, the most that a plan may take, in which a GPU computes 60,000 (measured).
 */
const mostSources = 1_000;
/** How often the totals of a plan are checked. */
const lookMs = 20;

/**
 * Segments of recordings that a plan lists at most, because the job lists them again. To open a recording of 1080p
 * takes 28 ms of a core (measured), which an archive of short ones would pay twice for each.
 */
const mostSegments = 16;

/**
 * With this many tiles or sources, it is known whether tiles are too small, and the run does not wait for the plan any
 * longer.
 */
const tellingTiles = 1_000;
const tellingSources = 16;

/**
 * Plans a job while `ready` is pending, because nothing else can be done until then, and for at least `leastMs`. It
 * does not wait for the plan of recordings or of a large archive, because a shard could be at work by then. If the job
 * sets the side of tiles, it waits until the plan shows whether they are too small, so that advice depends on the
 * images and not on the time. Rejects with UsageError as soon as the plan is refused, and as `ready` does.
 */
export async function planMeanwhile(
  spec: JobSpec,
  run: PlannedRun,
  ready: Promise<unknown>,
  make: MakePlan = makeHere,
  leastMs = leastTimeMs,
): Promise<Meanwhile> {
  const stopped = new AbortController();
  const least = delay(leastMs, undefined, { signal: stopped.signal, ref: false }).catch(() => undefined);
  // Other errors of a plan are ignored: the job itself will report them.
  let costs: RunCosts | undefined;
  let isLongSoFar = (): boolean => false;
  let tellsTiles = (): boolean => spec.tilePx === 0;
  let adviseSoFar = (): string | undefined => undefined;
  const onCosts: Parameters<MakePlan>[3] = (begun, soFar, advise) => {
    costs = begun;
    adviseSoFar = advise;
    isLongSoFar = () => isLong(soFar);
    tellsTiles = () => spec.tilePx === 0 || soFar.tiles >= tellingTiles || soFar.sources > tellingSources;
  };
  const plan = make(spec, run, stopped.signal, onCosts, mostSegments).catch((error) => {
    if (error instanceof UsageError) throw error;
    return undefined;
  });
  try {
    await Promise.race([ready, plan.then(() => ready)]);
    let isOver = false;
    void least.then(() => {
      isOver = true;
    });
    const untilLong = async (): Promise<undefined> => {
      while (!(isOver && tellsTiles()) && !isLongSoFar()) await delay(lookMs);
      return setImmediate(undefined);
    };
    const made = await Promise.race([plan, untilLong()]);
    return { made, costs, advice: made ? (made.plan.advice ?? undefined) : adviseSoFar() };
  } finally {
    stopped.abort(new Error('The run begins'));
    plan.catch(() => {});
  }
}

/** Whether the rest of a plan is not waited for. */
const isLong = ({ videoFrames, sources, output, scratchBytes }: Readonly<PlanTotals>): boolean =>
  videoFrames > 0 || (sources > mostSources && output.mapsBytes + scratchBytes === 0);
