import type { Metadata, ServerWritableStream } from '@grpc/grpc-js';
import { CallerGoneError, Refusal } from '@halogrid/jobs/refusal';
import type { JobStatus, JobsServer, WatchRequest, WatchResponse } from '@halogrid/proto';
import type { Access, Log, Role } from '@halogrid/service';
import type { AskingCaller } from './audit.ts';
import { checkJobIdBounds } from './check-bounds.ts';
import { grpcCredentials } from './grpc-credentials.ts';
import type { JobCalls } from './job-calls.ts';
import { reportFailure, unaryCall } from './unary-call.ts';

/** halogrid.v1.Jobs; jobs.proto says what each call means. */
export function createJobsService(calls: JobCalls, access: Access, log: Log): JobsServer {
  /** The interceptor has admitted the caller, but its token may have been taken away since. */
  function callerOf(call: { metadata: Metadata; getPeer(): string }, needed: Role): AskingCaller {
    const credentials = grpcCredentials(call.metadata, call.getPeer());
    const { caller, denial } = access.admit(credentials, needed);
    if (denial) throw new Refusal('forbidden', denial.sentence);
    return { ...caller, from: credentials.from };
  }
  /** A call that changes a job. */
  const change = (act: (jobId: string, caller: AskingCaller) => Promise<JobStatus>) =>
    unaryCall<{ jobId: string }, { job: JobStatus | undefined }>(log, async (request, _gone, call) => ({
      job: await act(checkJobIdBounds(request).jobId, callerOf(call, 'submit')),
    }));

  async function watch(call: ServerWritableStream<WatchRequest, WatchResponse>): Promise<void> {
    const gone = new AbortController();
    call.once('close', () => gone.abort(new CallerGoneError()));
    if (call.destroyed) return;
    const send = (job: WatchResponse['job']): Promise<void> =>
      new Promise((resolve) => call.write({ job }, () => resolve()));
    await calls.watch(checkJobIdBounds(call.request).jobId, send, gone.signal);
    call.end();
  }

  return {
    submit: unaryCall(log, async (request, gone, call) => calls.submit(request, callerOf(call, 'submit'), gone)),
    get: unaryCall(log, async (request) => ({ job: await calls.get(checkJobIdBounds(request).jobId) })),
    list: unaryCall(log, async (request, _gone, call) => calls.list(request, callerOf(call, 'read'))),
    cancel: change((jobId, caller) => calls.cancel(jobId, caller)),
    remove: unaryCall(log, async (request, _gone, call) =>
      calls.remove(checkJobIdBounds(request), callerOf(call, 'submit')),
    ),
    pause: change((jobId, caller) => calls.pause(jobId, caller)),
    resume: change((jobId, caller) => calls.resume(jobId, caller)),
    trace: unaryCall(log, async (request) => calls.trace(checkJobIdBounds(request).jobId)),
    watch: (call) => {
      watch(call).catch((error) => {
        if (!call.destroyed) call.emit('error', reportFailure(log, error));
      });
    },
  };
}
