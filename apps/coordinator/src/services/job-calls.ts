import type { checkSources } from '@halogrid/jobs/check-sources';
import { completeSubmit } from '@halogrid/jobs/complete-submit';
import { Refusal } from '@halogrid/jobs/refusal';
import type { JobRecord, Ledger } from '@halogrid/ledger';
import {
  JobSpec,
  type JobStatus,
  type ListRequest,
  type ListResponse,
  type PagesAddress,
  type PlanAnswer,
  type RemoveRequest,
  type RemoveResponse,
  type SubmitRequest,
  type SubmitResponse,
  type TraceResponse,
} from '@halogrid/proto';
import { named, sentence } from '@halogrid/proto/sentence';
import { type Pause, systemPause } from '@halogrid/service/system-pause';
import { traceIdOf } from '@halogrid/service/trace-context';
import type { JobDriver } from '../dispatch/job-driver.ts';
import { type ResumeJob, submitJob } from '../dispatch/submit-job.ts';
import type { WorkView } from '../dispatch/work-view.ts';
import type { PlanThreads } from '../plan/plan-threads.ts';
import { checkListBounds, checkSubmitBounds } from './check-bounds.ts';
import type { Intake } from './intake.ts';
import type { JobAnswers } from './job-answers.ts';
import { toJobStatus, wireStates } from './job-status.ts';
import { findJob } from './match-job-id.ts';
import { watchJob } from './watch-job.ts';

export interface JobCallsOptions {
  jobs: Pick<JobDriver, 'openJobs' | 'submit' | 'cancel' | 'changed' | 'ended'>;
  view: Pick<WorkView, 'jobNow'>;
  ledger: Ledger;
  known: JobAnswers;
  createJobId: () => string;
  resume?: ResumeJob;
  /** Whether jobs may be shares: their logs must stay in their folders. Absent: they are refused. */
  takesShares?: boolean;
  /** The address of this coordinator's pages. */
  pages?: PagesAddress;
  /** Checks sources; by default on this thread. */
  check?: typeof checkSources;
  /** Refuses new jobs while the coordinator drains; without it all are taken. */
  intake?: Intake;
  /** Removes the results of an ended job; see removeJob. */
  remove: (jobId: string, choice: { dryRun?: boolean }) => Promise<RemoveResponse>;
  /** Surveys what a job would come to, without running it. */
  survey: PlanThreads['survey'];
  /** Waits between two messages to a watcher; with system timers by default. */
  pause?: Pause;
}

/** The most plans at a time: each reads headers as fast as the disk gives them. */
const mostPlans = 2;

/** The calls about jobs, for gRPC and HTTP alike. All requests are checked. Calls reject with Refusal. */
export class JobCalls {
  readonly #options: JobCallsOptions;
  #plans = 0;

  constructor(options: JobCallsOptions) {
    this.#options = options;
  }

  /** The job with this id, or with an id that begins or ends like this; see `findJob`. */
  find(jobId: string): Promise<JobRecord> {
    return findJob(this.#options.ledger, jobId);
  }

  status(record: JobRecord): JobStatus {
    return toJobStatus(record, this.#options.view.jobNow(record.jobId));
  }

  /** Accepts the job unless `gone` aborts first, because the caller is gone. */
  async submit(request: SubmitRequest, gone: AbortSignal): Promise<SubmitResponse> {
    const { jobs, createJobId, resume, check, pages, intake } = this.#options;
    intake?.check();
    this.#refuseShare(request.spec);
    const jobId = await submitJob(jobs, createJobId, checkSubmitBounds(request), resume, check, gone);
    return { job: await this.get(jobId), pages };
  }

  /**
   * Submits the specification of a job once more, from the ledger: its sources may hold secrets that no caller is told.
   */
  async again(jobId: string, gone: AbortSignal): Promise<SubmitResponse> {
    const { spec } = await this.find(jobId);
    return this.submit({ spec: JobSpec.fromPartial(spec), nameOutByJob: false }, gone);
  }

  async plan(spec: JobSpec, gone: AbortSignal): Promise<PlanAnswer> {
    if (this.#plans >= mostPlans) {
      throw new Refusal('exhausted', 'Other plans are made just now: ask again in a moment');
    }
    this.#refuseShare(spec);
    this.#plans++;
    try {
      const request = checkSubmitBounds({ spec, nameOutByJob: false });
      return await this.#options.survey(completeSubmit(request).spec, gone);
    } finally {
      this.#plans--;
    }
  }

  #refuseShare(spec: JobSpec | undefined): void {
    if (!spec?.share || this.#options.takesShares) return;
    const why = "a cluster divides its jobs itself, and only 'halogrid run' makes parts";
    throw new Refusal('invalid', sentence`Expected no ${named('share')}: ${why}`);
  }

  async get(jobId: string): Promise<JobStatus> {
    return this.status(await this.find(jobId));
  }

  async list(request: ListRequest): Promise<ListResponse> {
    const { chosen, leftOut } = chooseJobs(await this.#options.ledger.listJobs(), checkListBounds(request));
    return { jobs: chosen.map((record) => this.status(record)), leftOut };
  }

  async cancel(given: string): Promise<JobStatus> {
    const { jobId } = await this.find(given);
    await this.#options.jobs.cancel(jobId);
    return this.get(jobId);
  }

  async remove({ jobId: given, dryRun }: RemoveRequest): Promise<RemoveResponse> {
    const { jobId } = await this.find(given);
    return this.#options.remove(jobId, { dryRun });
  }

  async trace(jobId: string): Promise<TraceResponse> {
    return jobTrace(await this.find(jobId), this.#options.view, this.#options.known);
  }

  /** As watchJob. */
  async watch(given: string, send: (job: JobStatus) => Promise<void>, gone: AbortSignal): Promise<void> {
    const { jobs, pause = systemPause } = this.#options;
    const { jobId } = await this.find(given);
    return watchJob({ jobId, jobs, status: () => this.get(jobId), pause }, send, gone);
  }
}

/** The jobs that a request asks for, and how many more there would be without its limit. `records` are newest first. */
function chooseJobs(
  records: readonly JobRecord[],
  { states, sinceMs = 0, limit = 0 }: ListRequest,
): { chosen: readonly JobRecord[]; leftOut: number } {
  const meant = records.filter(
    ({ state, submittedMs }) => submittedMs >= sinceMs && (states.length === 0 || states.includes(wireStates[state])),
  );
  const chosen = limit > 0 ? meant.slice(0, limit) : meant;
  return { chosen, leftOut: meant.length - chosen.length };
}

/**
 * When each shard of a job was on which node, as far as its last leader saw it. Rejects with Refusal if nothing is
 * known.
 */
async function jobTrace(record: JobRecord, view: Pick<WorkView, 'jobNow'>, known: JobAnswers): Promise<TraceResponse> {
  const { jobId } = record;
  const timeline = await known.timeline(record);
  if (!timeline)
    throw new Refusal(
      'unmet',
      `Nothing is known of when shards of job ${jobId} were on which node: it ended before this coordinator began, or a hundred jobs ago`,
    );
  return { ...timeline, job: toJobStatus(record, view.jobNow(jobId)), traceId: traceIdOf(jobId) };
}
