import type { Counts, JobStatus, QuarantineReason, ResultFile } from '@halogrid/proto';
import { hasEnded } from '@halogrid/proto/has-ended';
import { HalogridError, JobError } from './errors.ts';
import { nameOfState, type StateName } from './job-request.ts';
import { type FeatureRow, readRows } from './rows.ts';
import type { Transport } from './transport.ts';

type JobTransport = Pick<Transport<never>, 'address' | 'watch' | 'cancel' | 'pause' | 'resume' | 'results'>;

/** A job of a coordinator. `for await (const status of job)` follows it to its end. */
export class Job implements AsyncIterable<JobStatus> {
  readonly id: string;
  /**
   * The address of the job's page; undefined if the page cannot be reached from here, or another program submitted the
   * job.
   */
  readonly page: string | undefined;
  readonly #transport: JobTransport;
  #status: JobStatus;

  constructor(transport: JobTransport, status: JobStatus, page?: string) {
    this.#transport = transport;
    this.#status = status;
    this.id = status.jobId;
    this.page = page;
  }

  /** The job when it was last heard of. */
  get status(): JobStatus {
    return this.#status;
  }

  get state(): StateName {
    return nameOfState(this.#status.state);
  }

  /** Who submitted it; empty if the coordinator did not ask. */
  get owner(): string {
    return this.#status.owner;
  }

  get isPaused(): boolean {
    return this.#status.paused !== undefined;
  }

  get hasEnded(): boolean {
    return hasEnded(this.#status);
  }

  /** Yields the job now and whenever it has changed, until it has ended. Leaving the loop does not cancel the job. */
  async *[Symbol.asyncIterator](): AsyncGenerator<JobStatus, void> {
    for await (const status of this.#transport.watch(this.id)) {
      this.#status = status;
      yield status;
    }
    if (hasEnded(this.#status)) return;
    const why = `The coordinator at ${this.#transport.address} stopped reporting on job ${this.id} before its end`;
    throw new HalogridError('UNAVAILABLE', why);
  }

  /** Waits until the job has ended. Rejects with JobError if it failed or was cancelled. */
  async result(): Promise<JobResult> {
    if (!this.hasEnded) for await (const _ of this);
    const status = this.#status;
    if (status.state !== 'JOB_STATE_COMPLETE') throw new JobError(status);
    const files = this.#transport.results(status);
    return {
      status,
      digest: status.digest,
      counts: status.counts!,
      quarantined: status.reasons,
      files: () => files.list(),
      file: async (name) => new Response(await files.open(name)),
      rows: ({ pipeline } = {}) => readRows(files, pipeline),
    };
  }

  /** Has no more of the job computed until it is resumed; what nodes compute now counts. Resolves with the job. */
  async pause(): Promise<JobStatus> {
    this.#status = await this.#transport.pause(this.id);
    return this.#status;
  }

  /** Goes on with the job if it is paused. Resolves with the job after that. */
  async resume(): Promise<JobStatus> {
    this.#status = await this.#transport.resume(this.id);
    return this.#status;
  }

  /** Stops the job; an ended job stays as it is. Resolves with the job after that. */
  async cancel(): Promise<JobStatus> {
    this.#status = await this.#transport.cancel(this.id);
    return this.#status;
  }
}

/** The results of a complete job. */
export interface JobResult {
  readonly status: JobStatus;
  /** Equal for equal results, independent of the number and the devices of nodes. */
  readonly digest: string;
  readonly counts: Counts;
  /** Why inputs were quarantined, the most frequent reason first; empty if none was. */
  readonly quarantined: QuarantineReason[];
  files(): Promise<ResultFile[]>;
  /** A file by its path below the output folder, as a Response to read by `.json()`, `.bytes()` or `.body`. */
  file(name: string): Promise<Response>;
  /** The rows of features.parquet. For a job with several pipelines, the name of one must be given. */
  rows(options?: { pipeline?: string | undefined }): AsyncGenerator<FeatureRow, void>;
}
