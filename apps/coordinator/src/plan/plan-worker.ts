// Runs in a worker thread: makes the plans that the PlanThread of the process orders, and checks sources, any number at a time.
import { once } from 'node:events';
import { parentPort, workerData } from 'node:worker_threads';
import { restrictSources } from '@halogrid/sources';
import { endWhenAsked } from '@halogrid/threads';
import { jobPipeline } from '../job/accepted-job.ts';
import { checkSources } from '../job/check-sources.ts';
import { Refusal } from '../job/refusal.ts';
import type { PlannedStep } from '../job/shard.ts';
import { WantError } from '../job/want-error.ts';
import { packPlan } from './pack-plan.ts';
import { planPatiently } from './plan-patiently.ts';
import type { CheckAnswer, CheckOrder, PlanAnswer, PlanOrder } from './plan-thread.ts';
import { planJob } from './planner.ts';
import { runPlan } from './run-plan.ts';

endWhenAsked(parentPort!);
restrictSources(workerData);

parentPort!.on('message', (order: PlanOrder | CheckOrder) => void ('spec' in order ? plan(order) : check(order)));

async function plan({ spec, sourceGraceMs, port }: PlanOrder): Promise<void> {
  const stopped = new AbortController();
  port.on('close', () => stopped.abort());
  const answer = (message: PlanAnswer): void => port.postMessage(message);
  const write = async (steps: PlannedStep[]): Promise<void> => {
    answer({ steps });
    await once(port, 'message', { signal: stopped.signal });
  };
  try {
    const { signal } = stopped;
    const steps = planPatiently(planJob(spec, jobPipeline(spec), signal), sourceGraceMs, signal);
    await runPlan(packPlan(steps), { write, room: async () => {} });
    answer({ steps: [], isLast: true });
  } catch (error) {
    answer({ steps: [], error: messageOf(error), isWant: error instanceof WantError });
  }
}

async function check({ uris, videoOption, port }: CheckOrder): Promise<void> {
  const answer = (message: CheckAnswer): void => port.postMessage(message);
  try {
    await checkSources(uris, videoOption);
    answer({});
  } catch (error) {
    if (error instanceof Refusal) answer({ refused: { kind: error.kind, message: error.message } });
    else answer({ error: messageOf(error) });
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
