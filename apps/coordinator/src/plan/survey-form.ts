import { Refusal } from '@halogrid/jobs/refusal';
import type { JobSpec, PlanAnswer } from '@halogrid/proto';
import { UsageError } from '@halogrid/service/usage-error';
import { redactUri } from '@halogrid/sources';
import type { PlanTotals } from './plan-totals.ts';
import { surveyJob } from './survey-job.ts';

/** A form is answered within this time; sources that are not examined by then are left out. */
const planMs = 10_000;

/**
 * Surveys what a job would come to, for a form. Rejects with Refusal if the job would be refused, and with the signal's
 * reason when it aborts.
 */
export async function surveyForm(spec: JobSpec, signal: AbortSignal): Promise<PlanAnswer> {
  const notes: string[] = [];
  let soFar: Readonly<PlanTotals> | undefined;
  const timeUp = AbortSignal.timeout(planMs);
  try {
    const note = (text: string) => notes.push(text);
    const survey = await surveyJob(spec, AbortSignal.any([timeUp, signal]), note, (totals) => {
      soFar = totals;
    });
    return answerOf(survey, notes, survey.quarantine, false);
  } catch (error) {
    if (error instanceof UsageError)
      throw error.cause instanceof Refusal ? error.cause : new Refusal('invalid', error.message);
    if (timeUp.aborted && soFar) return answerOf(soFar, notes, [], true);
    throw error;
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
    sources,
    kept,
    quarantined,
    unknown,
    pixels,
    shards,
    videoFrames,
    mapsBytes,
    featuresBytes,
    scratchBytes,
    notes,
    reasons,
    isPart,
  };
}
