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

/** A coordinator by its HTTP API. Every method rejects with HalogridError. */
export interface HttpClient extends Client {
  /** What a job comes to, which does not start. */
  plan(request: JobRequest): Promise<PlanAnswer>;
  /** What a pipeline may be made of. */
  kernels(): Promise<KernelsAnswer>;
  /** The indexes that can be searched. */
  indexes(): Promise<ListIndexesResponse>;
  /**
   * The frames of an index that are most like a frame of it (`row`, or `uri` and `frame`), or like the file of an
   * image.
   */
  search(
    query: Partial<SearchQuery> & { index: string },
    image?: Blob | Uint8Array<ArrayBuffer>,
  ): Promise<SearchResponse>;
  /** What changed in each camera of a complete job. */
  changes(query: Partial<ChangesRequest>): Promise<ChangesResponse>;
}

/** A client of the coordinator whose pages are at `address`, http(s)://HOST[:PORT]; it connects when first asked. */
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
