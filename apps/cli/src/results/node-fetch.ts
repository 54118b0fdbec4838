import { type IncomingMessage, request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import { Readable } from 'node:stream';
import type { ClientSecurity } from '@halogrid/service';

/** A server that sends nothing for this long counts as gone. */
const silentWithinMs = 30_000;

/**
 * A fetch that uses the authority and the certificate of `tls`, which the global one cannot. It fails if the server
 * stops sending.
 */
export const nodeFetch =
  (tls: ClientSecurity['tls']) =>
  async (url: string, init: RequestInit): Promise<Response> => {
    const { method, headers, body } = new Request(url, init);
    const options = { method, headers: Object.fromEntries(headers), timeout: silentWithinMs };
    const sent = body ? Buffer.from(await new Response(body).arrayBuffer()) : undefined;
    const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
      const request = tls
        ? secureRequest(url, { ...options, ...tls.current() }, resolve)
        : plainRequest(url, options, resolve);
      request.on('timeout', () => request.destroy(new Error(`it sent nothing for ${silentWithinMs / 1000} s`)));
      request.on('error', reject).end(sent);
    });
    const { statusCode: status, headers: answered } = incoming;
    const fields = Object.entries(answered).map(([name, value]): [string, string] => [name, String(value)]);
    const hasBody = status !== 204 && status !== 304;
    return new Response(hasBody ? (Readable.toWeb(incoming) as ReadableStream) : null, { status, headers: fields });
  };
