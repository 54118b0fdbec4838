import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { credentials, status } from '@grpc/grpc-js';
import type { checkSources } from '@halogrid/jobs/check-sources';
import type { Ledger } from '@halogrid/ledger';
import { JobSpec, JobsClient, type NodesServer, type SearchServer } from '@halogrid/proto';
import { defaultConnectionLimits, type Log, openAccess } from '@halogrid/service';
import { temporaryFolder } from '@halogrid/sources/testing-files';
import { within } from '@halogrid/testing';
import type { JobDriver } from '../dispatch/job-driver.ts';
import { Audit } from './audit.ts';
import { startGrpc } from './grpc-server.ts';
import type { JobAnswers } from './job-answers.ts';
import { JobCalls } from './job-calls.ts';
import { createJobsService } from './jobs-service.ts';

/**
 * A server that accepts jobs through `driver` once `check` has resolved, a client, and the logged faults of the
 * program.
 */
async function serve(t: TestContext, driver: Partial<JobDriver>, check: typeof checkSources) {
  const logged: unknown[] = [];
  const log = { error: (...words: unknown[]) => logged.push(words), info: () => {} } as unknown as Log;
  const calls = new JobCalls({
    jobs: { openJobs: 0, ...driver } as JobDriver,
    view: { jobNow: () => ({ nodes: 0, waiting: '' }) },
    ledger: { getJob: async () => undefined, listJobs: async () => [] } as unknown as Ledger,
    known: {} as JobAnswers,
    audit: new Audit(log),
    createJobId: () => 'the-job',
    check,
    survey: assert.fail,
    remove: assert.fail,
  });
  const jobs = createJobsService(calls, openAccess, log);
  const others = { nodes: {} as NodesServer, search: {} as SearchServer };
  const server = await startGrpc(
    { host: '127.0.0.1', port: 0 },
    { jobs, ...others },
    {
      tls: undefined,
      access: openAccess,
      audit: new Audit(log),
      limits: defaultConnectionLimits,
      untakenMs: 3_600_000,
      warn: assert.fail,
      introspection: false,
    },
  );
  const client = new JobsClient(`127.0.0.1:${server.port}`, credentials.createInsecure());
  t.after(async () => {
    client.close();
    await server.close();
  });
  const folder = await temporaryFolder(t);
  const spec = JobSpec.fromPartial({
    sources: ['file:///in'],
    mapFormat: 'none',
    out: pathToFileURL(join(folder, 'out')).href,
    pipeline: { operations: [{ kernel: 'lbp' }] },
  });
  /** Resolves with the status code that the caller gets. */
  const submit = (leave: Promise<unknown>): Promise<number | undefined> =>
    new Promise((resolve) => {
      const call = client.submit({ spec, nameOutByJob: false }, (error) => resolve(error?.code));
      void leave.then(() => call.cancel());
    });
  return { submit, logged, folder };
}

test('when a caller leaves, the check of its sources ends, and no job is made', async (t) => {
  const begun = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const check: typeof checkSources = (_uris, _option, { signal } = {}) =>
    new Promise((_resolve, reject) => {
      signal!.addEventListener('abort', () => {
        reject(signal!.reason);
        ended.resolve();
      });
      begun.resolve();
    });
  const { submit, logged, folder } = await serve(t, { submit: () => assert.fail('It was submitted') }, check);
  assert.equal(await submit(begun.promise), status.CANCELLED);
  await within('the end of the check', ended.promise);
  assert.deepEqual(await readdir(folder), []);
  assert.deepEqual(logged, []);
});

test('a job that was accepted when its caller had left is cancelled', async (t) => {
  const begun = Promise.withResolvers<void>();
  const gone = Promise.withResolvers<void>();
  const cancelled = Promise.withResolvers<string>();
  const driver: Partial<JobDriver> = {
    submit: async () => {
      begun.resolve();
      await gone.promise;
    },
    cancel: async (jobId) => cancelled.resolve(jobId),
  };
  const check: typeof checkSources = async (_uris, _option, { signal } = {}) =>
    signal!.addEventListener('abort', () => gone.resolve());
  const { submit, logged } = await serve(t, driver, check);
  assert.equal(await submit(begun.promise), status.CANCELLED);
  assert.equal(await within('the job to be cancelled', cancelled.promise), 'the-job');
  assert.deepEqual(logged, []);
});
