import type { ListResponse, NodeStatus, RemoveResponse } from '@halogrid/proto';
import { Job } from './job.ts';
import { type JobRequest, type StateName, stateOf } from './job-request.ts';
import type { Transport } from './transport.ts';

/** Which jobs are listed. */
export interface JobsQuery {
  /** Jobs in these states (any). */
  state?: StateName | readonly StateName[] | undefined;
  /** Jobs submitted then or later: a time, or its milliseconds since 1970. */
  since?: Date | number | undefined;
  /** Jobs of this owner (any). */
  owner?: string | undefined;
  /** Only jobs of the token's name (false). */
  mine?: boolean | undefined;
  /** At most this many jobs, the newest; 0: all (0). */
  limit?: number | undefined;
}

/** A coordinator. Every method rejects with HalogridError. */
export interface Client<Request = JobRequest> {
  /** The address as it was given. */
  readonly address: string;
  /** Submits a job. It goes on when this program ends. */
  submit(request: Request): Promise<Job>;
  /** The job with that id, or with a unique beginning or ending of an id. */
  job(id: string): Promise<Job>;
  /** Jobs, newest first. */
  jobs(query?: JobsQuery): Promise<ListResponse>;
  /**
   * Removes the results of an ended job, by its id as in `job`, and forgets the job. Resolves with what was removed, or
   * with `dryRun` would be.
   */
  remove(id: string, choice?: { dryRun?: boolean | undefined }): Promise<RemoveResponse>;
  /** The attached nodes. */
  nodes(): Promise<NodeStatus[]>;
  /** Closes the connection to the coordinator. */
  close(): void;
}

export function createClient<Request>(transport: Transport<Request>): Client<Request> {
  return {
    address: transport.address,
    async submit(request) {
      const { status, page } = await transport.submit(request);
      return new Job(transport, status, page);
    },
    job: async (id) => new Job(transport, await transport.get(id)),
    jobs: ({ state = [], since, limit = 0, owner, mine } = {}) =>
      transport.jobs({
        states: [state].flat().map(stateOf),
        ...(since !== undefined && { sinceMs: Number(since) }),
        limit,
        owner,
        mine,
      }),
    remove: (id, { dryRun = false } = {}) => transport.remove(id, { dryRun }),
    nodes: () => transport.nodes(),
    close: () => transport.close(),
  };
}
