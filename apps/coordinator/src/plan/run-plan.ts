import type { PlannedStep } from '@halogrid/jobs/shard';

/** While this many steps, or sources in them, wait to be written, no more are pulled. */
const maxWaiting = 1024;
const maxWaitingSources = 2 ** 14;

export interface PlanSink {
  /** Writes the steps; the next ones are written when this resolves. */
  write(steps: PlannedStep[]): Promise<void>;
  /** Resolves when more steps are wanted. */
  room(): Promise<void>;
}

/**
 * Pulls a plan to its end and hands it to the sink in order, in batches: each holds the steps that were planned while
 * the one before was written. So the first shards are out at once, and a slow sink gets fewer, larger batches. Rejects
 * if the plan or the sink does.
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
      // A failure is handled where it is awaited, below.
      written.catch(() => {});
    }
    if (waiting.length >= maxWaiting || waitingSources >= maxWaitingSources) await written;
    await sink.room();
  }
  await written;
}
