import type { IncomingHttpHeaders } from 'node:http';
import type { LookupFunction } from 'node:net';

/** How a file is requested. */
export interface RemoteTarget {
  readonly uri: string;
  /** The URI of its host or bucket, which may be away as a whole. */
  readonly place: string;
  /** Whether redirections to the same host are followed. */
  readonly followsRedirects: boolean;
  /** The request, signed for now if it must be. */
  request(headers: Record<string, string>): Promise<{ url: URL; headers: Record<string, string> }>;
  /** How the address of its host is looked up; undefined: as the system does. */
  readonly lookup?: LookupFunction;
  /** One sentence about an answer that is not a success; `body`: the beginning of its body. */
  explain(status: number, headers: IncomingHttpHeaders, body: string): Promise<string>;
}
