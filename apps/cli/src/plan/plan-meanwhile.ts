import { setTimeout as delay, setImmediate } from 'node:timers/promises';
import type { JobSpec } from '@halogrid/proto';
import { UsageError } from '@halogrid/service';
import type { JobPlan, PlannedRun } from './job-plan.ts';
import type { makePlan } from './make-plan.ts';

type MakePlan = (...given: Parameters<typeof makePlan>) => Promise<JobPlan>;

/** Loaded while the nodes start, like all that it needs. */
const makeHere: MakePlan = async (...given) => (await import('./make-plan.ts')).makePlan(...given);

/** A plan of what a person names takes far less, also where the machine is busy and the nodes were quick. */
const leastTimeMs = 3_000;

/**
 * Plans a job for as long as `ready` takes, because nothing else is to be done until then, and for `leastMs`; undefined where that
 * was too short. Rejects with UsageError as soon as the plan is refused, and as `ready` does.
 */
export async function planMeanwhile(
  spec: JobSpec,
  run: Pick<PlannedRun, 'nodes' | 'device'>,
  ready: Promise<unknown>,
  make: MakePlan = makeHere,
  leastMs = leastTimeMs,
): Promise<JobPlan | undefined> {
  const stopped = new AbortController();
  const least = delay(leastMs, undefined, { signal: stopped.signal, ref: false }).catch(() => undefined);
  // What else keeps a plan from being made, the job itself will come upon.
  const plan = make(spec, run, stopped.signal).catch((error) => {
    if (error instanceof UsageError) throw error;
    return undefined;
  });
  try {
    await Promise.race([ready, plan.then(() => ready)]);
    return await Promise.race([plan, least.then(() => setImmediate(undefined))]);
  } finally {
    stopped.abort(new Error('The run begins'));
    plan.catch(() => {});
  }
}
