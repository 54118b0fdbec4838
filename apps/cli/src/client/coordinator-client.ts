import { Metadata, type ServiceError } from '@grpc/grpc-js';
import { type JobStatus, JobsClient, type NodeStatus, NodesClient, type SubmitRequest } from '@halogrid/proto';
import { type ClientSecurity, parseAddress } from '@halogrid/service';
import { grpcClient } from '@halogrid/service/grpc-client';
import { callError } from './call-error.ts';

/** A coordinator as commands see it. Every method rejects with one sentence: see callError. */
export interface CoordinatorClient {
  readonly address: string;
  submit(request: SubmitRequest): Promise<JobStatus>;
  get(jobId: string): Promise<JobStatus>;
  /** Newest first. */
  jobs(): Promise<JobStatus[]>;
  /** The job now and whenever it has changed; ends when it has. */
  watch(jobId: string): AsyncGenerator<JobStatus>;
  cancel(jobId: string): Promise<JobStatus>;
  nodes(): Promise<NodeStatus[]>;
  close(): void;
}

/** Long enough for a coordinator that is busy with the largest plans, short enough to wait for. */
const answerWithinMs = 30_000;

/** A client of the coordinator at HOST:PORT; it connects when first asked. Throws UsageError for another form. */
export function connectCoordinator(address: string, security: ClientSecurity): CoordinatorClient {
  parseAddress('--coordinator', address);
  const { channel, options } = grpcClient(security);
  const jobs = new JobsClient(address, channel, options);
  const nodes = new NodesClient(address, channel, options);

  type Answer<T> = (error: ServiceError | null, response: T) => void;
  const ask = <T>(call: (metadata: Metadata, options: { deadline: number }, answer: Answer<T>) => void): Promise<T> =>
    new Promise((resolve, reject) => {
      call(new Metadata(), { deadline: Date.now() + answerWithinMs }, (error, response) => {
        if (error) reject(callError(error, address));
        else resolve(response);
      });
    });

  return {
    address,
    submit: async (request) => (await ask(jobs.submit.bind(jobs, request))).job!,
    get: async (jobId) => (await ask(jobs.get.bind(jobs, { jobId }))).job!,
    jobs: async () => (await ask(jobs.list.bind(jobs, {}))).jobs,
    cancel: async (jobId) => (await ask(jobs.cancel.bind(jobs, { jobId }))).job!,
    nodes: async () => (await ask(nodes.list.bind(nodes, {}))).nodes,
    async *watch(jobId) {
      const stream = jobs.watch({ jobId });
      try {
        for await (const { job } of stream) yield job!;
      } catch (error) {
        throw callError(error, address);
      } finally {
        stream.cancel();
      }
    },
    close() {
      jobs.close();
      nodes.close();
    },
  };
}
