import type { PlannedStep } from '@halogrid/jobs/shard';

/** Steps that wait to be written before no more are pulled, and the sources in them. */
const maxWaiting = 1024;
const maxWaitingSources = 2 ** 14;

export interface PlanSink {
  /** Keeps the steps; the next are written when this resolves. */
  write(steps: PlannedStep[]): Promise<void>;
  /** Resolves when more steps are wanted. */
  room(): Promise<void>;
}

/**
 * Pulls a plan to its end and hands it to the sink in order, in batches: whatever was planned while the last batch was
 * being written. So the first shards are out at once, and a sink that writes slowly is asked less often. Rejects when
 * the plan or the sink does.
 */
export async function runPlan(plan: AsyncIterable<readonly PlannedStep[]>, sink: PlanSink): Promise<void> {
  let waiting: PlannedStep[] = [];
  let waitingSources = 0;
  let written = Promise.resolve();
  const write = (): Promise<void> => {
    const batch = waiting;
    waiting = [];
    waitingSources = 0;
    return sink.write(batch);
  };
  for await (const steps of plan) {
    if (steps.length === 0) continue;
    const isFirst = waiting.length === 0;
    for (const step of steps) {
      waiting.push(step);
      if (step.kind === 'sources') waitingSources += step.sources.count;
    }
    if (isFirst) {
      written = written.then(write);
      // Its failure is met below, where it is awaited.
      written.catch(() => {});
    }
    if (waiting.length >= maxWaiting || waitingSources >= maxWaitingSources) await written;
    await sink.room();
  }
  await written;
}
