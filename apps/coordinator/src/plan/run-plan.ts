import type { PlanStep } from '../shard.ts';

/** Steps that wait to be written, at most. */
const maxWaiting = 1024;

export interface PlanSink {
  /** Keeps the steps; the next are written when this resolves. */
  write(steps: PlanStep[]): Promise<void>;
  /** Resolves when more steps are wanted. */
  room(): Promise<void>;
}

/**
 * Pulls a plan to its end and hands it to the sink in order, in batches: whatever was planned while the last batch was
 * being written. So the first shards are out at once, and a sink that writes slowly is asked less often. Rejects when the
 * plan or the sink does.
 */
export async function runPlan(steps: AsyncIterable<PlanStep>, sink: PlanSink): Promise<void> {
  let waiting: PlanStep[] = [];
  let written = Promise.resolve();
  const write = (): Promise<void> => {
    const batch = waiting;
    waiting = [];
    return sink.write(batch);
  };
  for await (const step of steps) {
    waiting.push(step);
    if (waiting.length === 1) {
      written = written.then(write);
      // Its failure is met below, where it is awaited.
      written.catch(() => {});
    }
    if (waiting.length >= maxWaiting) await written;
    await sink.room();
  }
  await written;
}
