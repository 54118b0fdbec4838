import type {
  JobSpec,
  JobStatus,
  ListResponse,
  MaxQuarantined,
  NodesListResponse,
  ResultsAnswer,
} from '@halogrid/proto';
import { hasEnded } from '@halogrid/proto/has-ended';
import { HalogridError } from './errors.ts';
import { askJson, type HttpCall, posted } from './http-calls.ts';
import { type JobRequest, nameOfState } from './job-request.ts';
import { serverSentEvents } from './server-sent-events.ts';
import type { ResultFiles, Transport } from './transport.ts';

/** How long to wait for a coordinator that was lost, and how often to ask meanwhile. */
const [backWithinMs, askEveryMs] = [20_000, 500];

/** A transport to the coordinator at `address`; `call` sends requests to its HTTP API. */
export function httpTransport(address: string, call: HttpCall): Transport<JobRequest> {
  const jobAt = async (path: string, init?: RequestInit) =>
    statusOf((await askJson<{ job: StatusJson }>(call, path, init)).job);
  return {
    address,
    async submit(request) {
      const status = await jobAt('jobs', posted(request));
      return {
        status,
        page: new URL(`jobs/${encodeURIComponent(status.jobId)}`, `${address.replace(/\/$/, '')}/`).href,
      };
    },
    get: (id) => jobAt(`jobs/${encodeURIComponent(id)}`),
    async jobs({ states, sinceMs, limit, owner, mine }) {
      const query = new URLSearchParams({ limit: String(limit) });
      for (const state of states) query.append('state', nameOfState(state));
      if (owner !== undefined) query.set('owner', owner);
      if (mine) query.set('mine', 'true');
      if (sinceMs !== undefined) query.set('since', new Date(sinceMs).toISOString());
      const { jobs, leftOut } = await askJson<Omit<ListResponse, 'jobs'> & { jobs: StatusJson[] }>(
        call,
        `jobs?${query}`,
      );
      return { jobs: jobs.map(statusOf), leftOut };
    },
    watch: (id) => watch(call, `jobs/${encodeURIComponent(id)}/watch`),
    cancel: (id) => jobAt(`jobs/${encodeURIComponent(id)}/cancel`, posted({})),
    remove: (id, { dryRun }) => askJson(call, `jobs/${encodeURIComponent(id)}/remove?dryRun=${dryRun}`, posted({})),
    pause: (id) => jobAt(`jobs/${encodeURIComponent(id)}/pause`, posted({})),
    resume: (id) => jobAt(`jobs/${encodeURIComponent(id)}/resume`, posted({})),
    nodes: async () => (await askJson<NodesListResponse>(call, 'nodes')).nodes,
    results: ({ jobId }) => servedResults(call, jobId),
    close() {},
  };
}

async function* watch(call: HttpCall, path: string): AsyncGenerator<JobStatus, void> {
  let heardMs: number | undefined;
  for (;;) {
    try {
      const { body } = await call(path);
      for await (const data of serverSentEvents(body!)) {
        heardMs = performance.now();
        const status = statusOf(JSON.parse(data).job);
        yield status;
        if (hasEnded(status)) return;
      }
    } catch (error) {
      if (heardMs === undefined || !isLoss(error) || performance.now() - heardMs > backWithinMs) throw lossOf(error);
    }
    await new Promise((resolve) => setTimeout(resolve, askEveryMs));
  }
}

/** Whether the coordinator was lost and may come back. A broken stream gives an error of the runtime. */
const isLoss = (error: unknown): boolean => !(error instanceof HalogridError) || error.code === 'UNAVAILABLE';

const lossOf = (error: unknown): HalogridError =>
  error instanceof HalogridError
    ? error
    : new HalogridError('UNAVAILABLE', `The connection was lost: ${(error as Error).message}`);

/** The files of a complete job, served by the coordinator that `call` reaches. */
export function servedResults(call: HttpCall, jobId: string): ResultFiles {
  const root = `jobs/${encodeURIComponent(jobId)}/results`;
  const pathOf = (name: string): string => `${root}/${name.split('/').map(encodeURIComponent).join('/')}`;
  return {
    list: async () => (await askJson<ResultsAnswer>(call, root)).files,
    open: async (name) => (await call(pathOf(name))).body!,
    async slice(name, start, end) {
      const response = await call(pathOf(name), { headers: { range: `bytes=${start}-${end - 1}` } });
      const bytes = await response.arrayBuffer();
      return response.status === 206 ? bytes : bytes.slice(start, end);
    },
  };
}

type StatusJson = Omit<JobStatus, 'spec'> & { spec: Omit<JobSpec, 'maxQuarantined'> & { maxQuarantined?: object } };

/** A job in the form of its message: JSON has the set field of a oneof directly by its name. */
function statusOf({ spec: { maxQuarantined, ...spec }, ...job }: StatusJson): JobStatus {
  const [limit] = Object.entries(maxQuarantined ?? {}).map(([$case, value]) => ({ $case, value }));
  return { ...job, spec: { ...spec, ...(limit && { maxQuarantined: { limit } as MaxQuarantined }) } };
}
