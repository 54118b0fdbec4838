import type { JobSpec, PlanAnswer } from '@halogrid/proto';
import { Refusal } from '../job/refusal.ts';
import type { PlanThreads } from '../plan/plan-threads.ts';

/** Plans that are made at once: each reads headers as fast as the disk gives them. */
const mostAtOnce = 2;
let underWay = 0;

/** What a job will come to. Rejects with Refusal where it would be refused, or too many plans are made. */
export async function planForm(spec: JobSpec, survey: PlanThreads['survey'], gone: AbortSignal): Promise<PlanAnswer> {
  if (underWay >= mostAtOnce) throw new Refusal('exhausted', 'Other plans are made just now: ask again in a moment');
  underWay++;
  try {
    return await survey(spec, gone);
  } finally {
    underWay--;
  }
}
