import { Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { type Client, createClient, type ErrorCode, HalogridError, isRefusal, type Transport } from '@halogrid/client';
import { hasEnded, type SubmitRequest, type TraceResponse } from '@halogrid/proto';
import { type ClientSecurity, isDialledWrongly, parseAddressList, whyNoConnection } from '@halogrid/service';
import { readRefusal } from '@halogrid/service/refusal-metadata';
import { filesOfOutput } from '../results/result-files.ts';
import { CallRefusal } from './call-refusal.ts';
import { findLeader, type LeaderPatience, type ServingCoordinator } from './find-leader.ts';
import { jobPage } from './job-page.ts';
import { optionOfField } from './option-of-field.ts';
import { type CoordinatorFile, waitForCoordinator } from './wait-for-coordinator.ts';

/** A coordinator as commands see it. Every method rejects with one sentence: see callError. */
export interface CoordinatorClient extends Client<SubmitRequest> {
  /** The timeline of the shards of a job. */
  trace(jobId: string): Promise<TraceResponse>;
}

/** The calls of a coordinator by gRPC. */
export type GrpcTransport = Transport<SubmitRequest> & Pick<CoordinatorClient, 'trace'>;

/** Long enough for a coordinator that plans the largest jobs, short enough to wait for. */
const answerWithinMs = 30_000;

/** A limit is needed, because a stopped coordinator accepts connections and never greets. */
const greetingOfOne: LeaderPatience = { withinMs: 10_000, isAskedAgain: false };

/**
 * For a coordinator that this process has started and whose end it notices. If many other programs use the same cores,
 * its greeting may take long: with a limit of 10 s, runs failed that would have succeeded.
 */
export const ownCoordinator: LeaderPatience = { withinMs: 120_000, isAskedAgain: false };

/** For a coordinator that does not run yet. */
export const untilThere: LeaderPatience = { withinMs: Number.POSITIVE_INFINITY, isAskedAgain: true };

/** A standby takes over long before this. */
const failover: LeaderPatience = { withinMs: 20_000, isAskedAgain: true };

/** A client that uses these calls. */
export const clientOf = (transport: GrpcTransport): CoordinatorClient => ({
  ...createClient(transport),
  trace: transport.trace,
});

/** A client by grpcTransport, for a command. */
export const connectCoordinator = (
  where: string | CoordinatorFile,
  security: ClientSecurity,
  patience?: LeaderPatience,
): CoordinatorClient => clientOf(grpcTransport(where, security, { patience }));

export interface GrpcClientOptions {
  /**
   * How long each connect may take (default: as long as a standby takes to lead if there are several addresses,
   * otherwise 10 s).
   */
  patience?: LeaderPatience | undefined;
  /** The caller's name for a field of the .proto files (default: its option). */
  nameOf?: ((field: string) => string) | undefined;
}

/**
 * The calls of the coordinator at HOST:PORT, of the leader among HOST:PORT,HOST:PORT…, or of the coordinator that a
 * file names. It connects at the first call. Throws UsageError for another form of address.
 */
export function grpcTransport(
  where: string | CoordinatorFile,
  security: ClientSecurity,
  { patience, nameOf = optionOfField }: GrpcClientOptions = {},
): GrpcTransport {
  const address = typeof where === 'string' ? where : where.file;
  const addresses = typeof where === 'string' ? parseAddressList('--coordinator', where) : [];
  let connecting: Promise<ServingCoordinator | undefined> | undefined;
  let isClosed = false;

  // With a single coordinator, no other takes over, so its absence is reported at once.
  const first = patience ?? (addresses.length > 1 ? failover : greetingOfOne);
  const lead = async (patient = first): Promise<ServingCoordinator> => {
    connecting ??=
      typeof where === 'string'
        ? findLeader(addresses, security, patient, () => areAllWrong(addresses, security))
        : waitForCoordinator(where, security);
    const connection = await connecting;
    if (!connection) throw new HalogridError('UNAVAILABLE', await whyNobodyLeads(addresses, security));
    if (isClosed) connection.close();
    return connection;
  };

  type Answer<T> = (error: ServiceError | null, response: T) => void;
  type Call<T> = (metadata: Metadata, options: { deadline: number }, answer: Answer<T>) => void;
  const ask = async <T>(
    callOf: (leader: ServingCoordinator) => Call<T>,
    connection?: ServingCoordinator,
  ): Promise<T> => {
    const leader = connection ?? (await lead());
    return new Promise((resolve, reject) => {
      callOf(leader)(new Metadata(), { deadline: Date.now() + answerWithinMs }, (error, response) => {
        if (error) reject(callError(error, leader.address, nameOf));
        else resolve(response);
      });
    });
  };

  return {
    address,
    submit: async (request) => {
      const leader = await lead();
      const { job, pages } = await ask(({ jobs }) => jobs.submit.bind(jobs, request), leader);
      return { status: job!, page: jobPage(pages, leader.address, job!.jobId) };
    },
    get: async (jobId) => (await ask(({ jobs }) => jobs.get.bind(jobs, { jobId }))).job!,
    jobs: (request) => ask(({ jobs }) => jobs.list.bind(jobs, request)),
    cancel: async (jobId) => (await ask(({ jobs }) => jobs.cancel.bind(jobs, { jobId }))).job!,
    remove: (jobId, { dryRun }) => ask(({ jobs }) => jobs.remove.bind(jobs, { jobId, dryRun })),
    pause: async (jobId) => (await ask(({ jobs }) => jobs.pause.bind(jobs, { jobId }))).job!,
    resume: async (jobId) => (await ask(({ jobs }) => jobs.resume.bind(jobs, { jobId }))).job!,
    trace: (jobId) => ask(({ jobs }) => jobs.trace.bind(jobs, { jobId })),
    results: (job) => filesOfOutput(job.spec!.out),
    nodes: async () => (await ask(({ nodes }) => nodes.list.bind(nodes, {}))).nodes,
    async *watch(jobId) {
      let leader = await lead();
      for (;;) {
        const stream = leader.jobs.watch({ jobId });
        try {
          for await (const { job } of stream) {
            yield job!;
            if (hasEnded(job!)) return;
          }
        } catch (error) {
          if (!isLoss(error)) throw callError(error, leader.address, nameOf);
        } finally {
          stream.cancel();
        }
        leader.close();
        connecting = undefined;
        leader = await lead(patience ?? failover);
      }
    },
    close() {
      isClosed = true;
      void connecting?.then((connection) => connection?.close());
    },
  };
}

/**
 * Whether every address is dialled in the wrong way, for example without TLS: then no other coordinator can take over.
 */
async function areAllWrong(addresses: readonly string[], security: ClientSecurity): Promise<boolean> {
  const wrong = await Promise.all(addresses.map((address) => isDialledWrongly(address, security)));
  return wrong.every(Boolean);
}

/** A sentence for each address: one may be dialled in the wrong way while another is a standby. */
async function whyNobodyLeads(addresses: readonly string[], security: ClientSecurity): Promise<string> {
  const sentences = await Promise.all(addresses.map((address) => whyNoConnection(address, security)));
  return sentences.join('. ');
}

/** Whether the coordinator is gone, so that another may continue the call. */
function isLoss(error: unknown): boolean {
  const { code } = error as Partial<ServiceError>;
  return code === status.UNAVAILABLE || code === status.CANCELLED;
}

/** The error of a failed call, in one sentence with the caller's names of fields. */
export function callError(error: unknown, address: string, nameOf: (field: string) => string): Error {
  if (!isServiceError(error)) return error instanceof Error ? error : new Error(String(error));
  const code = status[error.code] as ErrorCode;
  if (!isRefusal(code)) return new HalogridError(code, whyFailed(error, address), { cause: error });
  const { sentence, field } = readRefusal(error.details, error.metadata);
  return new CallRefusal(code, sentence.naming(nameOf), { field: field && nameOf(field), cause: error });
}

function whyFailed({ code, details }: ServiceError, address: string): string {
  switch (code) {
    case status.UNAVAILABLE:
      return `No coordinator answers at ${address}: is one running there ('halogrid coordinator')?`;
    case status.DEADLINE_EXCEEDED:
      return `The coordinator at ${address} did not answer in time`;
    case status.UNIMPLEMENTED:
      return `What answers at ${address} is not a coordinator of this version of halogrid`;
    default:
      return `The coordinator at ${address} failed: ${details || status[code]}`;
  }
}

function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && typeof (error as Partial<ServiceError>).code === 'number' && 'details' in error;
}
