import assert from 'node:assert/strict';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import type { ServerWritableStream } from '@grpc/grpc-js';
import type { JobRecord, Ledger } from '@halogrid/ledger';
import { JobSpec, JobState, type WatchRequest, type WatchResponse } from '@halogrid/proto';
import { openAccess } from '@halogrid/service';
import { createLog } from '@halogrid/service/log';
import { eventually, turns, within } from '@halogrid/testing';
import type { JobDriver } from '../dispatch/job-driver.ts';
import { Audit } from './audit.ts';
import type { JobAnswers } from './job-answers.ts';
import { JobCalls } from './job-calls.ts';
import { createJobsService } from './jobs-service.ts';

const running: JobRecord = {
  jobId: 'job',
  spec: JobSpec.fromPartial({ pipeline: { operations: [{ kernel: 'lbp' }] } }),
  state: 'running',
  submittedMs: 1,
  finishedMs: 0,
  error: '',
  digest: '',
  planned: true,
  counts: { sources: 1, frames: 1, shards: 1, shardsDone: 0, attempts: 1, pixels: 0, quarantined: 0 },
};

/** Watches a job whose record is what `record` returns. The test ends each pause between two messages. */
function watchJob(record: () => JobRecord) {
  const pauses: { ms: number; end: () => void }[] = [];
  const changed = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const jobs: Partial<JobDriver> = { ended: () => ended.promise, changed: () => changed.promise };
  const ledger = { getJob: async () => record() };
  const log = createLog('test', 'silent');
  const calls = new JobCalls({
    jobs: jobs as JobDriver,
    view: { jobNow: () => ({ nodes: 0, waiting: '' }) },
    ledger: ledger as unknown as Ledger,
    known: {} as JobAnswers,
    audit: new Audit(log),
    createJobId: () => 'job',
    survey: assert.fail,
    remove: assert.fail,
    pause: (ms, signal) =>
      new Promise((resolve) => {
        pauses.push({ ms, end: resolve });
        signal.addEventListener('abort', () => resolve());
      }),
  });
  const { watch } = createJobsService(calls, openAccess, log);
  const stream = new PassThrough({ objectMode: true });
  const states: JobState[] = [];
  stream.on('data', ({ job }: WatchResponse) => states.push(job!.state));
  const call = Object.assign(stream, { request: { jobId: 'job' } });
  watch(call as unknown as ServerWritableStream<WatchRequest, WatchResponse>);
  /** Resolves with the pause after this many messages, once it has begun. */
  const pauseAfter = (messages: number) => eventually(`${messages} messages`, () => pauses[messages - 1]);
  return { stream, states, changed, ended, pauseAfter };
}

test('a watcher hears of changes at most ten times a second, and of the end of a job at once', async () => {
  let record = running;
  const { stream, states, changed, ended, pauseAfter } = watchJob(() => record);
  const { ms, end } = await pauseAfter(1);
  assert.equal(ms, 100);
  record = { ...running, state: 'finalising' };
  changed.resolve();
  await turns(5);
  assert.deepEqual(states, [JobState.RUNNING]);
  end();
  await pauseAfter(2);
  assert.deepEqual(states, [JobState.RUNNING, JobState.FINALISING]);

  record = { ...running, state: 'complete', finishedMs: 2 };
  ended.resolve();
  await within('the end of the stream', once(stream, 'end'));
  assert.deepEqual(states, [JobState.RUNNING, JobState.FINALISING, JobState.COMPLETE]);
});

test('a job that is left to another coordinator is not sent again and again', async () => {
  const { stream, states, changed, ended, pauseAfter } = watchJob(() => running);
  await pauseAfter(1);
  changed.resolve();
  ended.resolve();
  await pauseAfter(2);
  await turns(5);
  assert.deepEqual(states, [JobState.RUNNING, JobState.RUNNING]);
  stream.destroy();
});
