import assert from 'node:assert/strict';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { ServerWritableStream } from '@grpc/grpc-js';
import { JobSpec, JobState, type WatchRequest, type WatchResponse } from '@halogrid/proto';
import { createLog } from '@halogrid/service/log';
import type { Dispatcher } from '../dispatch/dispatcher.ts';
import type { JobRecord, Ledger } from '../ledger/ledger.ts';
import type { JobAnswers } from './job-answers.ts';
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

/** Watches a job of which the ledger says what `record` gives, with so long between two messages. */
function watchJob(record: () => JobRecord, watchIntervalMs: number) {
  const changed = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const dispatcher = {
    ended: () => ended.promise,
    changed: () => changed.promise,
    jobNow: () => ({ nodes: 0, waiting: '' }),
  };
  const ledger = { getJob: async () => record() };
  const { watch } = createJobsService({
    dispatcher: dispatcher as unknown as Dispatcher,
    ledger: ledger as unknown as Ledger,
    known: {} as JobAnswers,
    createJobId: () => 'job',
    log: createLog('test', 'silent'),
    watchIntervalMs,
  });
  const stream = new PassThrough({ objectMode: true });
  const states: JobState[] = [];
  stream.on('data', ({ job }: WatchResponse) => states.push(job!.state));
  const call = Object.assign(stream, { request: { jobId: 'job' } });
  watch(call as unknown as ServerWritableStream<WatchRequest, WatchResponse>);
  return { stream, states, changed, ended };
}

test('the end of a job is told at once, and no other change before its time', { timeout: 30_000 }, async () => {
  let record = running;
  const { stream, states, changed, ended } = watchJob(() => record, 3_600_000);
  await once(stream, 'data');
  record = { ...running, state: 'finalising' };
  changed.resolve();
  await delay(50);
  assert.deepEqual(states, [JobState.RUNNING]);

  record = { ...running, state: 'complete', finishedMs: 2 };
  ended.resolve();
  await once(stream, 'end');
  assert.deepEqual(states, [JobState.RUNNING, JobState.COMPLETE]);
});

test('a job that is left to another coordinator is not told of again and again', async () => {
  const { stream, states, changed, ended } = watchJob(() => running, 3_600_000);
  await once(stream, 'data');
  changed.resolve();
  ended.resolve();
  await delay(50);
  assert.deepEqual(states, [JobState.RUNNING, JobState.RUNNING]);
  stream.destroy();
});
