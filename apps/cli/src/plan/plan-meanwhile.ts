import { setTimeout as delay, setImmediate } from 'node:timers/promises';
import type { PlanTotals } from '@halogrid/coordinator/plan';
import type { JobSpec } from '@halogrid/proto';
import { UsageError } from '@halogrid/service';
import type { RunCosts } from './estimate/run-costs.ts';
import type { PlannedRun } from './job-plan.ts';
import type { MadePlan, makePlan } from './make-plan.ts';

type MakePlan = (...given: Parameters<typeof makePlan>) => Promise<MadePlan>;

/** What came of a plan in the meantime. */
export interface Meanwhile {
  /** On what makes the job slow for nothing, by as much as was planned; undefined where nothing does. */
  advice: string | undefined;
  /** Undefined where the time was too short, or it failed. */
  made: MadePlan | undefined;
  /** Known of a plan that has begun. */
  costs: RunCosts | undefined;
}

/** Loaded while the nodes start, like all that it needs. */
const makeHere: MakePlan = async (...given) => (await import('./make-plan.ts')).makePlan(...given);

/** A plan of what a person names takes far less, also where the machine is busy and the nodes were quick. */
const leastTimeMs = 3_000;

/**
 * Sources of a job that is waited for, unless its results need room that there may not be. Headers of 24,000 JPEGs took
 * the most that a plan may take, 3 s, in which a GPU computes 60,000 (measured).
 */
const mostSources = 1_000;
/** How often the length of a plan is looked at. */
const lookMs = 20;

/**
 * Segments of recordings that are listed for a plan and then once more for the job, at most. To open a recording of
 * 1080p takes 28 ms of a core (measured), which an archive of short ones would pay twice for each.
 */
const mostSegments = 16;

/** Tiles, or sources, that tell whether tiles are too small: a plan that has come so far is waited for no longer. */
const tellingTiles = 1_000;
const tellingSources = 16;

/**
 * Plans a job for as long as `ready` takes, because nothing else is to be done until then, and for `leastMs`; but no
 * recording and no archive waits: a shard of it could be at work. Where the job says the side of tiles, the plan is
 * waited for until it tells whether they are too small, so that advice depends on the images and not on the time.
 * Rejects with UsageError as soon as the plan is refused, and as `ready` does.
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
  // What else keeps a plan from being made, the job itself will come upon.
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

/** Whether nobody waits for the rest of a plan. */
const isLong = ({ videoFrames, sources, output, scratchBytes }: Readonly<PlanTotals>): boolean =>
  videoFrames > 0 || (sources > mostSources && output.mapsBytes + scratchBytes === 0);
