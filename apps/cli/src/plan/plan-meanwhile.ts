import { setTimeout as delay, setImmediate } from 'node:timers/promises';
import type { JobSpec } from '@halogrid/proto';
import { UsageError } from '@halogrid/service';
import type { RunCosts } from './estimate/run-costs.ts';
import type { PlannedRun } from './job-plan.ts';
import type { MadePlan, makePlan } from './make-plan.ts';

type MakePlan = (...given: Parameters<typeof makePlan>) => Promise<MadePlan>;

/** What came of a plan in the meantime. */
export interface Meanwhile {
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
 * Segments of recordings that are listed for a plan and then once more for the job, at most. To open a recording of 1080p takes 28 ms of a core
 * (measured), which an archive of short ones would pay twice for each.
 */
const mostSegments = 16;

/**
 * Plans a job for as long as `ready` takes, because nothing else is to be done until then, and for `leastMs`; but no
 * recording waits: a segment of it could be at work. Rejects with UsageError as soon as the plan is refused, and as `ready` does.
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
  let framesSoFar = (): number => 0;
  const onCosts: Parameters<MakePlan>[3] = (begun, soFar) => {
    costs = begun;
    framesSoFar = () => soFar.videoFrames;
  };
  const plan = make(spec, run, stopped.signal, onCosts, mostSegments).catch((error) => {
    if (error instanceof UsageError) throw error;
    return undefined;
  });
  try {
    await Promise.race([ready, plan.then(() => ready)]);
    const longest = framesSoFar() > 0 ? Promise.resolve() : least;
    const made = await Promise.race([plan, longest.then(() => setImmediate(undefined))]);
    return { made, costs };
  } finally {
    stopped.abort(new Error('The run begins'));
    plan.catch(() => {});
  }
}
