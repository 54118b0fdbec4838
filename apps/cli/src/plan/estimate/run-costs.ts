import type { PlanTotals } from '@halogrid/coordinator/plan';
import type { Parts } from './cost-model.ts';
import type { CostDevice } from './kernel-costs.ts';
import { type FinalCounts, scaleTotals } from './scale-totals.ts';
import { type PlannedJob, startSeconds, type Workers, workParts } from './work-parts.ts';

/** The part of a plan that its run remembers. */
export interface RunCosts {
  /** Seconds of a start by the constants of the program. */
  usualStartSeconds: number;
  /** The slowdown when the run was planned: see slowdownBy. */
  slowdown: Promise<number>;
  /** The parts of the time of a job with these counts on that device; undefined if too little was planned to know. */
  partsOf(counts: FinalCounts, device: CostDevice): Parts | undefined;
}

/** The costs of a plan; its totals `soFar` may grow until the parts are asked for. */
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
