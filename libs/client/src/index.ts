// A client of a coordinator for Node, Deno and browsers. It uses no native code and no API that only Node has.
export type {
  ChangesRequest,
  ChangesResponse,
  Counts,
  JobSpec,
  JobStatus,
  KernelsAnswer,
  ListIndexesResponse,
  ListResponse,
  NodeStatus,
  PlanAnswer,
  QuarantineReason,
  ResultFile,
  SearchQuery,
  SearchResponse,
} from '@halogrid/proto';
export { type Client, createClient, type JobsQuery } from './client.ts';
export { connect, type HttpClient } from './connect.ts';
export { type ErrorCode, HalogridError, isRefusal, JobError } from './errors.ts';
export { type HttpCall, type HttpOptions, httpCalls } from './http-calls.ts';
export { httpTransport, servedResults } from './http-transport.ts';
export { Job, type JobResult } from './job.ts';
export type { JobRequest, StateName } from './job-request.ts';
export type { FeatureRow } from './rows.ts';
export type { ResultFiles, Transport } from './transport.ts';
