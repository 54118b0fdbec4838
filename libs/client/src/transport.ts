import type { JobStatus, ListRequest, ListResponse, NodeStatus, RemoveResponse, ResultFile } from '@halogrid/proto';

/** Access to the files of a complete job. */
export interface ResultFiles {
  list(): Promise<ResultFile[]>;
  /** Opens a file. Rejects if there is no such file. */
  open(name: string): Promise<ReadableStream<Uint8Array<ArrayBuffer>>>;
  /** The bytes of a file from `start` up to but without `end`. */
  slice(name: string, start: number, end: number): Promise<ArrayBuffer>;
}

/**
 * How requests reach a coordinator. Every method rejects with HalogridError. `Request` is the form in which a job is
 * submitted.
 */
export interface Transport<Request> {
  /** The address as it was given. */
  readonly address: string;
  /** Resolves with the accepted job and the address of its page; undefined if the page cannot be reached from here. */
  submit(request: Request): Promise<{ status: JobStatus; page: string | undefined }>;
  /** `id` may be a unique beginning or ending of an id. */
  get(id: string): Promise<JobStatus>;
  /** Newest first. */
  jobs(request: ListRequest): Promise<ListResponse>;
  /** Yields the job now and whenever it has changed, until it has ended. Continues after a lost connection. */
  watch(id: string): AsyncGenerator<JobStatus>;
  cancel(id: string): Promise<JobStatus>;
  /** Removes the results of an ended job, and forgets the job; a dry run only says what would be removed. */
  remove(id: string, choice: { dryRun: boolean }): Promise<RemoveResponse>;
  pause(id: string): Promise<JobStatus>;
  resume(id: string): Promise<JobStatus>;
  nodes(): Promise<NodeStatus[]>;
  results(job: JobStatus): ResultFiles;
  close(): void;
}
