import type {
  ChangesRequest,
  ChangesResponse,
  KernelsAnswer,
  ListIndexesResponse,
  PlanAnswer,
  SearchQuery,
  SearchResponse,
} from '@halogrid/proto';
import { type Client, createClient } from './client.ts';
import { askJson, type HttpOptions, httpCalls, posted } from './http-calls.ts';
import { httpTransport } from './http-transport.ts';
import type { JobRequest } from './job-request.ts';

/** A coordinator, through its HTTP API. Every method rejects with HalogridError. */
export interface HttpClient extends Client {
  /** What a job would process and write; the job is not started. */
  plan(request: JobRequest): Promise<PlanAnswer>;
  /** The kernels, borders and map formats that a job may use. */
  kernels(): Promise<KernelsAnswer>;
  /** The indexes that can be searched. */
  indexes(): Promise<ListIndexesResponse>;
  /**
   * The frames of an index that are most similar to one of its frames (`row`, or `uri` and `frame`), or to the image
   * file `image`.
   */
  search(
    query: Partial<SearchQuery> & { index: string },
    image?: Blob | Uint8Array<ArrayBuffer>,
  ): Promise<SearchResponse>;
  /** What changed in the view of each camera of a complete job. */
  changes(query: Partial<ChangesRequest>): Promise<ChangesResponse>;
}

/**
 * A client of the coordinator whose pages are at `address`, http(s)://HOST[:PORT]. It connects at the first request.
 */
export function connect(address: string, options: HttpOptions = {}): HttpClient {
  const call = httpCalls(address, options);
  return {
    ...createClient(httpTransport(address, call)),
    plan: async (request) => askJson(call, 'plan', posted(request)),
    kernels: () => askJson(call, 'kernels'),
    indexes: () => askJson(call, 'indexes'),
    search: (query, image) => askJson(call, `search?${parametersOf(query)}`, image && { method: 'POST', body: image }),
    changes: (query) => askJson(call, `changes?${parametersOf(query)}`),
  };
}

function parametersOf(query: object): URLSearchParams {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  return new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]));
}
