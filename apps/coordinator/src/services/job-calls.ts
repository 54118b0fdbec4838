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
import { noRules, type RulesOfOwners } from '@halogrid/service';
import { type Pause, systemPause } from '@halogrid/service/system-pause';
import { traceIdOf } from '@halogrid/service/trace-context';
import type { JobDriver } from '../dispatch/job-driver.ts';
import { type ResumeJob, submitJob } from '../dispatch/submit-job.ts';
import type { WorkView } from '../dispatch/work-view.ts';
import type { ClaimContext } from '../output/output-folder.ts';
import type { PlanThreads } from '../plan/plan-threads.ts';
import type { AskedChange, AskingCaller, Audit } from './audit.ts';
import { checkListBounds, checkSubmitBounds } from './check-bounds.ts';
import type { Intake } from './intake.ts';
import type { JobAnswers } from './job-answers.ts';
import { toJobStatus, wireStates } from './job-status.ts';
import { findJob } from './match-job-id.ts';
import { OwnerLimits } from './owner-limits.ts';
import { refuseStranger } from './refuse-stranger.ts';
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
  /** As in claimOutputFolder. */
  claims?: ClaimContext;
  /** Checks sources; by default on this thread. */
  check?: typeof checkSources;
  /** Refuses new jobs while the coordinator drains; without it all are taken. */
  intake?: Intake;
  /** Removes the results of an ended job; see removeJob. */
  remove: (jobId: string, choice: { dryRun?: boolean }) => Promise<RemoveResponse>;
  /** Surveys what a job would come to, without running it. */
  survey: PlanThreads['survey'];
  /** What owners of jobs may have; no limits by default. */
  owners?: () => RulesOfOwners;
  audit: Audit;
  /** Milliseconds since 1970; the system's by default. */
  nowMs?: () => number;
  /** Waits between two messages to a watcher; with system timers by default. */
  pause?: Pause;
}

/** The most plans at a time: each reads headers as fast as the disk gives them. */
const mostPlans = 2;

/** The calls about jobs, for gRPC and HTTP alike. All requests are checked. Calls reject with Refusal. */
export class JobCalls {
  readonly #options: JobCallsOptions;
  readonly #limits: OwnerLimits;
  #plans = 0;

  constructor(options: JobCallsOptions) {
    this.#options = options;
    const { owners = () => noRules, ledger } = options;
    this.#limits = new OwnerLimits(owners, () => ledger.listJobs());
  }

  /** The job with this id, or with an id that begins or ends like this; see `findJob`. */
  find(jobId: string): Promise<JobRecord> {
    return findJob(this.#options.ledger, jobId);
  }

  status(record: JobRecord): JobStatus {
    return toJobStatus(record, this.#options.view.jobNow(record.jobId));
  }

  /** Accepts the job unless `gone` aborts first, because the caller is gone. */
  submit(request: SubmitRequest, caller: AskingCaller, gone: AbortSignal): Promise<SubmitResponse> {
    return this.#audited(caller, { action: 'submit' }, () => this.#submit(request, caller, gone));
  }

  /**
   * Submits the specification of a job once more, from the ledger: its sources may hold secrets that no caller is told.
   */
  again(given: string, caller: AskingCaller, gone: AbortSignal): Promise<SubmitResponse> {
    return this.#audited(caller, { action: 'submit', jobId: given }, async () => {
      const { spec } = await this.find(given);
      return this.#submit({ spec: JobSpec.fromPartial(spec), nameOutByJob: false }, caller, gone);
    });
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

  async list(request: ListRequest, { name }: Pick<AskingCaller, 'name'>): Promise<ListResponse> {
    const { chosen, leftOut } = chooseJobs(await this.#options.ledger.listJobs(), checkListBounds(request), name);
    return { jobs: chosen.map((record) => this.status(record)), leftOut };
  }

  cancel(given: string, caller: AskingCaller): Promise<JobStatus> {
    return this.#change('cancel', given, caller, ({ jobId }) => this.#options.jobs.cancel(jobId));
  }

  pause(given: string, caller: AskingCaller): Promise<JobStatus> {
    const { known, nowMs = Date.now } = this.#options;
    return this.#change('pause', given, caller, async (record) => {
      refuseEnded(record, 'pause');
      if (!record.paused) await known.setPaused(record, { sinceMs: nowMs(), by: caller.name });
    });
  }

  resume(given: string, caller: AskingCaller): Promise<JobStatus> {
    return this.#change('resume', given, caller, async (record) => {
      refuseEnded(record, 'resume');
      if (record.paused) await this.#options.known.setPaused(record, undefined);
    });
  }

  remove({ jobId: given, dryRun }: RemoveRequest, caller: AskingCaller): Promise<RemoveResponse> {
    const remove = async (): Promise<RemoveResponse> => {
      const record = await this.find(given);
      refuseStranger(record, caller, 'remove');
      return this.#options.remove(record.jobId, { dryRun });
    };
    return dryRun
      ? remove()
      : this.#options.audit.change(caller, { action: 'remove', jobId: given }, remove, ({ jobId }) => jobId);
  }

  async #submit(request: SubmitRequest, { name }: AskingCaller, gone: AbortSignal): Promise<SubmitResponse> {
    const { jobs, createJobId, resume, check, claims, pages, intake } = this.#options;
    intake?.check();
    this.#refuseShare(request.spec);
    const asked = { request: checkSubmitBounds(request), owner: name || undefined };
    const jobId = await this.#limits.within(name, request.spec, (tellId) => {
      const createId = (): string => {
        const id = createJobId();
        tellId(id);
        return id;
      };
      return submitJob(jobs, createId, asked, resume, check, gone, claims);
    });
    return { job: await this.get(jobId), pages };
  }

  #audited(caller: AskingCaller, asked: AskedChange, act: () => Promise<SubmitResponse>): Promise<SubmitResponse> {
    return this.#options.audit.change(caller, asked, act, ({ job }) => job?.jobId);
  }

  /** Changes a job, if the caller may. */
  #change(
    action: string,
    given: string,
    caller: AskingCaller,
    act: (record: JobRecord) => Promise<unknown>,
  ): Promise<JobStatus> {
    const change = async (): Promise<JobStatus> => {
      const record = await this.find(given);
      refuseStranger(record, caller, action);
      await act(record);
      return this.get(record.jobId);
    };
    return this.#options.audit.change(caller, { action, jobId: given }, change, ({ jobId }) => jobId);
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

/** Throws Refusal if the job has ended. */
function refuseEnded({ jobId, state, finishedMs }: JobRecord, action: string): void {
  if (finishedMs > 0) throw new Refusal('unmet', `Job ${jobId} is ${state}: there is nothing to ${action}`);
}

/** The jobs that a request asks for, and how many more there would be without its limit. `records` are newest first. */
function chooseJobs(
  records: readonly JobRecord[],
  { states, sinceMs = 0, limit = 0, owner, mine = false }: ListRequest,
  caller: string,
): { chosen: readonly JobRecord[]; leftOut: number } {
  const meant = records.filter(
    (job) =>
      job.submittedMs >= sinceMs &&
      (states.length === 0 || states.includes(wireStates[job.state])) &&
      (owner === undefined || (job.owner ?? '') === owner) &&
      (!mine || (job.owner ?? '') === caller),
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
