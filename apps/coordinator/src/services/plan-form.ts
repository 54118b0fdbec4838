import type { JobSpec, PlanAnswer } from '@halogrid/proto';
import { UsageError } from '@halogrid/service';
import { redactUri } from '@halogrid/sources';
import { Refusal } from '../job/refusal.ts';
import type { PlanTotals } from '../plan/plan-totals.ts';

/** A form is answered in this time; what is not looked at by then is left out. */
const planMs = 10_000;
/** Plans that are made at once: each reads headers as fast as the disk gives them. */
const mostAtOnce = 2;
let underWay = 0;

/** What a job will come to. Rejects with Refusal where it would be refused, or too many plans are made. */
export async function planForm(spec: JobSpec): Promise<PlanAnswer> {
  if (underWay >= mostAtOnce) throw new Refusal('exhausted', 'Other plans are made just now: ask again in a moment');
  underWay++;
  const notes: string[] = [];
  let soFar: Readonly<PlanTotals> | undefined;
  const timeUp = AbortSignal.timeout(planMs);
  try {
    const note = (text: string) => notes.push(text);
    // Loaded when the first plan is asked for, with all that reads images.
    const { surveyJob } = await import('../plan/survey-job.ts');
    const survey = await surveyJob(spec, timeUp, note, (totals) => {
      soFar = totals;
    });
    return answerOf(survey, notes, survey.quarantine, false);
  } catch (error) {
    if (error instanceof UsageError) throw new Refusal('invalid', error.message);
    if (timeUp.aborted && soFar) return answerOf(soFar, notes, [], true);
    throw error;
  } finally {
    underWay--;
  }
}

function answerOf(
  totals: Readonly<PlanTotals>,
  notes: string[],
  quarantine: PlanAnswer['reasons'],
  isPart: boolean,
): PlanAnswer {
  const { sources, kept, quarantined, unknown, pixels, shards, videoFrames, output, scratchBytes } = totals;
  const { mapsBytes, featuresBytes } = output;
  const reasons = quarantine.map((reason) => ({ ...reason, example: redactUri(reason.example) }));
  return {
    ...{ sources, kept, quarantined, unknown, pixels, shards, videoFrames, mapsBytes, featuresBytes, scratchBytes },
    ...{ notes, reasons, isPart },
  };
}
