// Runs in a worker thread: makes the plans that the PlanThread of the process orders, any number at a time.
import { once } from 'node:events';
import { parentPort, workerData } from 'node:worker_threads';
import { endWhenAsked, restrictSources } from '@halogrid/imaging';
import { jobPipeline } from '../job-pipeline.ts';
import type { PlanStep } from '../shard.ts';
import type { PlanAnswer, PlanOrder } from './plan-thread.ts';
import { planJob } from './planner.ts';
import { runPlan } from './run-plan.ts';

endWhenAsked(parentPort!);
restrictSources(workerData);

parentPort!.on('message', async ({ spec, port }: PlanOrder) => {
  const stopped = new AbortController();
  port.on('close', () => stopped.abort());
  const answer = (message: PlanAnswer): void => port.postMessage(message);
  const write = async (steps: PlanStep[]): Promise<void> => {
    answer({ steps });
    await once(port, 'message', { signal: stopped.signal });
  };
  try {
    const steps = planJob(spec, jobPipeline(spec), stopped.signal);
    await runPlan(steps, { write, room: async () => {} });
    answer({ steps: [], isLast: true });
  } catch (error) {
    answer({ steps: [], error: error instanceof Error ? error.message : String(error) });
  }
});
