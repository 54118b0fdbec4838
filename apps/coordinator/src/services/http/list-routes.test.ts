import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import type { JobRecord, Ledger, LedgerState } from '@halogrid/ledger';
import type { ListResponse } from '@halogrid/proto';
import { openAccess } from '@halogrid/service';
import { createLog } from '@halogrid/service/log';
import type { JobDriver } from '../../dispatch/job-driver.ts';
import { Audit } from '../audit.ts';
import type { JobAnswers } from '../job-answers.ts';
import { JobCalls } from '../job-calls.ts';
import { createApi } from './api.ts';
import { jobRoutes } from './job-routes.ts';

const pipeline = { operations: [{ kernel: 'lbp', parameters: { points: '8', radius: '1' }, border: 'interior' }] };
const recordOf = (jobId: string, state: LedgerState, submittedMs: number): JobRecord => ({
  jobId,
  state,
  submittedMs,
  finishedMs: 0,
  error: '',
  digest: '',
  planned: true,
  spec: { sources: [], op: [], pipeline, out: '', mapFormat: 'none', tilePx: 0, batchFrames: 0, grid: undefined },
  counts: { sources: 0, frames: 0, shards: 0, shardsDone: 0, attempts: 0, pixels: 0, quarantined: 0 },
});

test('a list has the jobs of a query and how many its limit leaves out, and a wrong query is refused', async (t) => {
  const records = [
    recordOf('new', 'running', 3000),
    recordOf('mid', 'complete', 2000),
    recordOf('old', 'running', 1000),
  ];
  const ledger = { listJobs: async () => records } as unknown as Ledger;
  const now = { nodes: 0, waiting: '', speed: undefined };
  const view = { jobNow: () => now, nodes: () => [], leftNodes: () => [] };
  const driver = {} as JobDriver;
  const known = {} as JobAnswers;
  const log = createLog('test', 'silent');
  const audit = new Audit(log);
  const made = { createJobId: assert.fail, remove: assert.fail, survey: assert.fail };
  const calls = new JobCalls({ jobs: driver, view, ledger, known, audit, ...made });
  const answer = createApi({
    audit,
    access: openAccess,
    allowedOrigins: [],
    log,
    routes: jobRoutes(calls, known, view),
  });
  const server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const ask = async (query: string) => {
    const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1/jobs${query}`);
    const { jobs, leftOut, error } = (await response.json()) as {
      jobs?: { jobId: string }[];
      leftOut?: number;
      error?: string;
    };
    return [response.status, jobs?.map(({ jobId }) => jobId), leftOut, error] as const;
  };
  assert.deepEqual(await ask(''), [200, ['new', 'mid', 'old'], 0, undefined]);
  assert.deepEqual(await ask('?state=running&limit=1'), [200, ['new'], 1, undefined]);
  const listed = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1/jobs?limit=1`);
  const {
    jobs: [newest],
  } = (await listed.json()) as ListResponse;
  assert.deepEqual(newest?.asked, [{ name: '', operations: ['lbp'] }]);
  assert.deepEqual(await ask('?since=1970-01-01T00:00:02Z'), [200, ['new', 'mid'], 0, undefined]);
  const [status, jobs, , error] = await ask('?limit=many');
  assert.deepEqual([status, jobs], [400, undefined]);
  assert.match(error!, /^Expected a whole number for limit but received 'many'$/);
});
