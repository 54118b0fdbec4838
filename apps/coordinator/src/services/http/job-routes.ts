import { chromeTrace } from '@halogrid/service/chrome-trace';
import type { WorkView } from '../../dispatch/work-view.ts';
import type { JobAnswers } from '../job-answers.ts';
import type { JobCalls } from '../job-calls.ts';
import { listNodes } from '../list-nodes.ts';
import { metricsTargets } from '../metrics-targets.ts';
import { readJobsQuery } from './jobs-query.ts';
import { type Route, route } from './route.ts';

/** Routes of jobs and nodes, and of all that is known about one job. */
export function jobRoutes(calls: JobCalls, known: JobAnswers, view: Pick<WorkView, 'nodes' | 'leftNodes'>): Route[] {
  const read = { method: 'GET', role: 'read' } as const;
  const change = { method: 'POST', role: 'submit' } as const;
  return [
    route(
      {
        ...read,
        name: 'listJobs',
        path: '/jobs',
        summary: 'Jobs, the newest first',
        query: 'JobsQuery',
        answer: 'ListResponse',
      },
      ({ query, caller }) => calls.list(readJobsQuery(query, Date.now()), caller),
    ),
    route(
      {
        ...change,
        name: 'submitJob',
        path: '/jobs',
        summary: 'Submits a job',
        body: 'JobSpec',
        answer: 'SubmitResponse',
      },
      ({ body, caller, gone }) => calls.submit({ spec: body, nameOutByJob: false }, caller, gone),
    ),
    route(
      {
        ...change,
        name: 'planJob',
        path: '/plan',
        summary: 'What a job would come to, without starting it',
        body: 'JobSpec',
        answer: 'PlanAnswer',
      },
      ({ body, gone }) => calls.plan(body, gone),
    ),
    route(
      {
        ...read,
        name: 'getJob',
        path: '/jobs/{id}',
        summary: 'A job, and what it did over its time',
        query: 'JobQuery',
        answer: 'JobDetail',
      },
      async ({ path, query }) => {
        const record = await calls.find(path.id!);
        const { merged: pipeline, cell } = query;
        // In one answer with the status: if a page asked for it later, and the job had ended by then, it would be
        // refused.
        const [history, merged] = await Promise.all([
          known.history(record),
          pipeline === undefined ? undefined : known.mergedSoFar(record, { pipeline: pipeline || undefined, cell }),
        ]);
        return { job: calls.status(record), nowMs: Date.now(), history, merged };
      },
    ),
    route(
      {
        ...change,
        name: 'cancelJob',
        path: '/jobs/{id}/cancel',
        summary: 'Stops a job; one that has ended stays as it is',
        answer: 'CancelResponse',
      },
      async ({ path, caller }) => ({ job: await calls.cancel(path.id!, caller) }),
    ),
    route(
      {
        ...change,
        name: 'pauseJob',
        path: '/jobs/{id}/pause',
        summary: 'Leases no more shards of a job; what is leased goes on',
        answer: 'PauseResponse',
      },
      async ({ path, caller }) => ({ job: await calls.pause(path.id!, caller) }),
    ),
    route(
      {
        ...change,
        name: 'resumeJob',
        path: '/jobs/{id}/resume',
        summary: 'Goes on with a paused job',
        answer: 'ResumeResponse',
      },
      async ({ path, caller }) => ({ job: await calls.resume(path.id!, caller) }),
    ),
    route(
      {
        ...change,
        name: 'removeJob',
        path: '/jobs/{id}/remove',
        summary: 'Removes the results of an ended job, and forgets the job',
        query: 'RemoveQuery',
        answer: 'RemoveResponse',
      },
      ({ path, query, caller }) => calls.remove({ jobId: path.id!, dryRun: query.dryRun }, caller),
    ),
    route(
      {
        ...change,
        name: 'submitAgain',
        path: '/jobs/{id}/again',
        summary: 'Submits the specification of a job once more',
        answer: 'SubmitResponse',
      },
      ({ path, caller, gone }) => calls.again(path.id!, caller, gone),
    ),
    route(
      {
        ...read,
        name: 'getHistogram',
        path: '/jobs/{id}/histogram',
        summary: 'The results merged so far of a job that has not ended',
        query: 'HistogramQuery',
        answer: 'MergedSoFar',
      },
      async ({ path, query }) =>
        known.merged(await calls.find(path.id!), { pipeline: query.pipeline, cell: query.cell }),
    ),
    route(
      {
        ...read,
        name: 'listQuarantined',
        path: '/jobs/{id}/quarantined',
        summary: 'Inputs that are set aside, by reason',
        answer: 'QuarantinedInputs',
      },
      async ({ path }) => known.quarantined(await calls.find(path.id!)),
    ),
    {
      ...read,
      name: 'getTrace',
      path: '/jobs/{id}/trace',
      summary: 'Which node worked on which shard of a job, and when, for https://ui.perfetto.dev',
      answer: { type: 'application/json', words: 'A trace as Chrome writes them' },
      respond: async ({ path }) => chromeTrace(await calls.trace((path as { id: string }).id)),
    },
    route(
      {
        ...read,
        name: 'listNodes',
        path: '/nodes',
        summary: 'Attached nodes, and nodes that left within a day',
        answer: 'NodesListResponse',
      },
      async () => listNodes(view),
    ),
    {
      ...read,
      name: 'listTargets',
      path: '/targets',
      summary: 'Where Prometheus finds the metrics of attached nodes, for its http_sd',
      answer: { type: 'application/json', words: 'Groups of targets' },
      respond: async () => metricsTargets(view),
    },
  ];
}
