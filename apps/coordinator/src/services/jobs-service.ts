import type { ServerWritableStream } from '@grpc/grpc-js';
import { shortened } from '@halogrid/kernels';
import {
  type CancelRequest,
  type GetRequest,
  hasEnded,
  type JobStatus,
  type JobsServer,
  type PagesAddress,
  type WatchRequest,
  type WatchResponse,
} from '@halogrid/proto';
import type { Log } from '@halogrid/service';
import type { Dispatcher } from '../dispatch/dispatcher.ts';
import { type ResumeJob, submitJob } from '../dispatch/submit-job.ts';
import type { checkSources } from '../job/check-sources.ts';
import { Refusal } from '../job/refusal.ts';
import { type Pause, systemPause } from '../job/system-pause.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { checkJobIdBounds, checkListBounds, checkSubmitBounds } from './check-bounds.ts';
import { chooseJobs } from './choose-jobs.ts';
import type { JobAnswers } from './job-answers.ts';
import { toJobStatus } from './job-status.ts';
import { jobTrace } from './job-trace.ts';
import { findJob } from './match-job-id.ts';
import { reportFailure, unaryCall } from './unary-call.ts';

export interface JobsServiceOptions {
  dispatcher: Dispatcher;
  ledger: Ledger;
  known: JobAnswers;
  createJobId: () => string;
  resume?: ResumeJob;
  /** Where this coordinator's pages are. */
  pages?: PagesAddress;
  /** Unless given, sources are checked on this thread. */
  check?: typeof checkSources;
  log: Log;
  /** Between two messages to a watcher; by a timer of the system unless given. */
  pause?: Pause;
}

/** Between two messages to a watcher; the last one is sent at once. The protocol allows ten a second. */
const watchIntervalMs = 100;

/** halogrid.v1.Jobs; jobs.proto says what each call means. */
export function createJobsService({
  dispatcher,
  ledger,
  known,
  createJobId,
  pages,
  resume,
  check,
  log,
  pause = systemPause,
}: JobsServiceOptions): JobsServer {
  async function statusOf(jobId: string): Promise<JobStatus> {
    const record = await ledger.getJob(jobId);
    if (!record) throw new Refusal('missing', `There is no job '${shortened(jobId)}'`);
    return toJobStatus(record, dispatcher.jobNow(jobId));
  }

  const idOf = async (request: GetRequest | WatchRequest | CancelRequest): Promise<string> =>
    (await findJob(ledger, checkJobIdBounds(request).jobId)).jobId;

  const answer = <Request, Response>(respond: (request: Request, gone: AbortSignal) => Promise<Response>) =>
    unaryCall(log, respond);

  /**
   * Each message is the job as it is when it is sent, and the next waits until it is on its way: a slow reader misses some
   * and nothing piles up for it.
   */
  async function watch(call: ServerWritableStream<WatchRequest, WatchResponse>): Promise<void> {
    const jobId = await idOf(call.request);
    let wake = (): void => {};
    let hurry = (): void => {};
    void dispatcher.ended(jobId).then(() => hurry());
    call.once('close', () => {
      hurry();
      wake();
    });
    while (!call.destroyed) {
      const hurried = new AbortController();
      hurry = () => hurried.abort();
      const changed = dispatcher.changed(jobId);
      const job = await statusOf(jobId);
      await new Promise<void>((resolve) => call.write({ job }, () => resolve()));
      if (hasEnded(job)) break;
      await pause(watchIntervalMs, hurried.signal);
      await new Promise<void>((resolve) => {
        wake = resolve;
        if (call.destroyed) resolve();
        else void changed.then(resolve);
      });
    }
    call.end();
  }

  return {
    submit: answer(async (request, gone) => {
      const jobId = await submitJob(dispatcher, createJobId, checkSubmitBounds(request), resume, check, gone);
      return { job: await statusOf(jobId), pages };
    }),
    get: answer(async (request) => ({ job: await statusOf(await idOf(request)) })),
    list: answer(async (request) => {
      const { chosen, leftOut } = chooseJobs(await ledger.listJobs(), checkListBounds(request));
      return { jobs: chosen.map((record) => toJobStatus(record, dispatcher.jobNow(record.jobId))), leftOut };
    }),
    cancel: answer(async (request) => {
      const jobId = await idOf(request);
      await dispatcher.cancel(jobId);
      return { job: await statusOf(jobId) };
    }),
    trace: answer(async (request) => {
      return jobTrace(await findJob(ledger, checkJobIdBounds(request).jobId), dispatcher, known);
    }),
    watch: (call) => {
      watch(call).catch((error) => {
        if (!call.destroyed) call.emit('error', reportFailure(log, error));
      });
    },
  };
}
