import { pathToFileURL } from 'node:url';
import { credentials, type ServiceError } from '@grpc/grpc-js';
import { JobState, type JobStatus, JobsClient } from '@halogrid/proto';
import type { MapFormat } from '@halogrid/results/map-format';

/** A job request of a test. Paths are absolute; sources may be URIs of servers. */
export interface JobRequest {
  sources: string[];
  out: string;
  /** The pipeline; LBP with `convention` unless given. */
  operations?: { kernel: string; parameters: Record<string, string> }[];
  convention?: string;
  /** The border of every kernel; the default of each unless given. */
  border?: string;
  grid?: { rows: number; columns: number };
  map?: 'none' | MapFormat;
  /** The level of pyramids. */
  level?: string;
  /** 0: the coordinator chooses. */
  tilePx?: number;
  /** 0: the coordinator chooses. */
  batchFrames?: number;
  /** Wait for a node for any time, instead of failing after the coordinator's grace. */
  waitForNode?: boolean;
}

/**
 * A client of halogrid.v1.Jobs in this process, because starting a command for each of hundreds of small jobs would
 * take minutes.
 */
export interface JobsOverGrpc {
  /** Resolves with the job's id. */
  submit(request: JobRequest): Promise<string>;
  /** Resolves with the ended job. */
  untilEnded(jobId: string): Promise<JobStatus>;
  /** Submits, waits, and rejects unless the job is complete. */
  run(request: JobRequest): Promise<JobStatus>;
  /** Resolves when the job has ended. */
  cancel(jobId: string): Promise<void>;
  close(): void;
}

export function connectJobs(address: string): JobsOverGrpc {
  const client = new JobsClient(address, credentials.createInsecure());
  const url = (path: string): string => pathToFileURL(path).href;

  async function submit(request: JobRequest): Promise<string> {
    const { sources, out, convention = 'nw-cw-msb', border = '', map = 'none', grid } = request;
    const operations = request.operations ?? [{ kernel: 'lbp', parameters: { convention } }];
    const spec = {
      sources: sources.map((source) => (/^(https?|s3):/.test(source) ? source : url(source))),
      pipeline: { operations: operations.map((operation) => ({ ...operation, border })) },
      op: [],
      out: url(out),
      mapFormat: map,
      tilePx: request.tilePx ?? 0,
      batchFrames: request.batchFrames ?? 0,
      waitForNode: request.waitForNode,
      grid,
      level: request.level,
    };
    return new Promise((resolve, reject) => {
      client.submit({ spec, nameOutByJob: false }, (error: ServiceError | null, response) => {
        if (error) reject(error);
        else resolve(response.job!.jobId);
      });
    });
  }

  async function untilEnded(jobId: string): Promise<JobStatus> {
    let last: JobStatus | undefined;
    for await (const { job } of client.watch({ jobId })) last = job;
    return last!;
  }

  return {
    submit,
    untilEnded,
    async run(request) {
      const job = await untilEnded(await submit(request));
      if (job.state !== JobState.COMPLETE) throw new Error(`Job ${job.jobId} is ${job.state}: ${job.error}`);
      return job;
    },
    cancel: (jobId) => {
      return new Promise((resolve, reject) => client.cancel({ jobId }, (error) => (error ? reject(error) : resolve())));
    },
    close: () => client.close(),
  };
}
