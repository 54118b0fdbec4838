import type { JobStatus, ListRequest, ListResponse, NodeStatus, ResultFile } from '@halogrid/proto';

/** The files of a complete job, wherever they are. */
export interface ResultFiles {
  list(): Promise<ResultFile[]>;
  /** Rejects where there is no such file. */
  open(name: string): Promise<ReadableStream<Uint8Array<ArrayBuffer>>>;
  /** The bytes of a file from `start` up to `end`, which is not among them. */
  slice(name: string, start: number, end: number): Promise<ArrayBuffer>;
}

/** How a coordinator is asked. Every method rejects with HalogridError. `Request` is what it takes as a job. */
export interface Transport<Request> {
  /** The address as it was given. */
  readonly address: string;
  /** Resolves with the accepted job, and the address of its page; undefined where that cannot be reached from here. */
  submit(request: Request): Promise<{ status: JobStatus; page: string | undefined }>;
  /** `id`: or as much of its beginning or its ending as no other id has. */
  get(id: string): Promise<JobStatus>;
  /** Newest first. */
  jobs(request: ListRequest): Promise<ListResponse>;
  /** The job now and whenever it has changed; ends when it has. Goes on where a connection is lost. */
  watch(id: string): AsyncGenerator<JobStatus>;
  cancel(id: string): Promise<JobStatus>;
  nodes(): Promise<NodeStatus[]>;
  results(job: JobStatus): ResultFiles;
  close(): void;
}
