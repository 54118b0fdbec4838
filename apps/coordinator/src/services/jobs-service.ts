import type { ServerWritableStream } from '@grpc/grpc-js';
import { CallerGoneError } from '@halogrid/jobs/refusal';
import type { JobsServer, WatchRequest, WatchResponse } from '@halogrid/proto';
import type { Log } from '@halogrid/service';
import { checkJobIdBounds } from './check-bounds.ts';
import type { JobCalls } from './job-calls.ts';
import { reportFailure, unaryCall } from './unary-call.ts';

/** halogrid.v1.Jobs; jobs.proto says what each call means. */
export function createJobsService(calls: JobCalls, log: Log): JobsServer {
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
    submit: unaryCall(log, (request, gone) => calls.submit(request, gone)),
    get: unaryCall(log, async (request) => ({ job: await calls.get(checkJobIdBounds(request).jobId) })),
    list: unaryCall(log, (request) => calls.list(request)),
    cancel: unaryCall(log, async (request) => ({ job: await calls.cancel(checkJobIdBounds(request).jobId) })),
    remove: unaryCall(log, (request) => calls.remove(checkJobIdBounds(request))),
    trace: unaryCall(log, async (request) => calls.trace(checkJobIdBounds(request).jobId)),
    watch: (call) => {
      watch(call).catch((error) => {
        if (!call.destroyed) call.emit('error', reportFailure(log, error));
      });
    },
  };
}
