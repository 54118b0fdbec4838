import type { PlanTotals } from '@halogrid/coordinator/plan';
import type { Parts } from './cost-model.ts';
import type { CostDevice } from './kernel-costs.ts';
import { type FinalCounts, scaleTotals } from './scale-totals.ts';
import { type PlannedJob, startSeconds, type Workers, workParts } from './work-parts.ts';

/** What a run remembers of its plan. */
export interface RunCosts {
  /** What a start takes by the program's own figures. */
  usualStartSeconds: number;
  /** That of the time when the run was planned: see slowdownBy. */
  slowdown: Promise<number>;
  /**
   * What the time of a job with these counts is made of on that device; undefined where too little was planned to tell.
   */
  partsOf(counts: FinalCounts, device: CostDevice): Parts | undefined;
}

/** `soFar` may grow until the parts are asked for. */
export function runCosts(
  soFar: PlanTotals,
  job: PlannedJob,
  workers: Omit<Workers, 'device'>,
  slowdown: Promise<number>,
): RunCosts {
  return {
    usualStartSeconds: startSeconds(workers),
    slowdown,
    partsOf: (counts, device) => {
      const totals = scaleTotals(soFar, counts);
      return totals && workParts(totals, job, { ...workers, device });
    },
  };
}
