// Runs in a worker thread: as the coordinator's plan-worker.ts, over frames of an archive that is not there.
import { once } from 'node:events';
import { parentPort } from 'node:worker_threads';
import type { Source } from '@halogrid/sources';
import { endWhenAsked } from '@halogrid/threads';
import { jobPipeline } from '../../../apps/coordinator/src/job/accepted-job.ts';
import { packPlan } from '../../../apps/coordinator/src/plan/pack-plan.ts';
import type { PlanAnswer, PlanOrder } from '../../../apps/coordinator/src/plan/plan-thread.ts';
import { planJob, realInputs } from '../../../apps/coordinator/src/plan/planner.ts';
import { runPlan } from '../../../apps/coordinator/src/plan/run-plan.ts';

/** The source of the job's specification ends with its number of frames. */
async function* list([uri]: Iterable<string>): AsyncGenerator<Source[]> {
  const frames = Number(uri!.split('/').at(-1));
  let listed: Source[] = [];
  for (let index = 0; index < frames; index++) {
    const name = `2026-01-31/camera-07/frame-${String(index).padStart(8, '0')}.jpg`;
    const version = `20000 17${String(index).padStart(8, '0')}.25`;
    listed.push({ uri: `file:///archive/${name}`, name, sizeBytes: 20_000, named: false, version });
    if (listed.length < 64) continue;
    yield listed;
    listed = [];
  }
  yield listed;
}

async function plan({ spec, port }: PlanOrder): Promise<void> {
  const stopped = new AbortController();
  port.on('close', () => stopped.abort());
  const answer = (message: PlanAnswer): void => port.postMessage(message);
  const steps = planJob(spec, jobPipeline(spec), stopped.signal, { ...realInputs, list });
  await runPlan(packPlan(steps), {
    write: async (steps) => {
      answer({ steps });
      await once(port, 'message', { signal: stopped.signal });
    },
    room: async () => {},
  });
  answer({ steps: [], isLast: true });
}

endWhenAsked(parentPort!);
parentPort!.on('message', (order: PlanOrder) => void plan(order));
