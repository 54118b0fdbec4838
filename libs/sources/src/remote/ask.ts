import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import { HttpAgent, requestHttp } from '../node-http.ts';
import type { RemoteLimits } from './remote-limits.ts';
import { asTransferError, TransferError } from './transfer-error.ts';

/** The most connections to a host at once; other requests wait for theirs. */
const maxSockets = 16;

const httpAgent = new HttpAgent({ keepAlive: true, maxSockets });
const httpsAgent = new HttpsAgent({ keepAlive: true, maxSockets });

/** The beginning of an answer; its body comes as it is read. The caller must read all of it or call `drop`. */
export interface HttpAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  /** Fails with TransferError if it ends before its announced end. */
  body: AsyncIterable<Buffer>;
  /** Closes the connection unless all of the body was read. */
  drop(): void;
}

/** A request; by default a GET. */
export interface HttpRequest {
  url: URL;
  headers: Record<string, string>;
  method?: string;
  body?: Uint8Array | undefined;
}

/** Sends a request. Rejects with TransferError for every fault of the host or of the network. */
export function ask(
  { url, headers, method = 'GET', body }: HttpRequest,
  limits: RemoteLimits,
  lookup?: LookupFunction,
): Promise<HttpAnswer> {
  const { host } = url;
  return new Promise((resolve, reject) => {
    // Pixels are compressed already, and a part of a compressed file is of no use.
    const options = { method, headers: { ...headers, 'accept-encoding': 'identity' }, lookup };
    const request =
      url.protocol === 'https:'
        ? requestHttps(url, { ...options, agent: httpsAgent })
        : requestHttp(url, { ...options, agent: httpAgent });
    let answer: IncomingMessage | undefined;
    const giveUp = (sentence: string) => {
      return (answer ?? request).destroy(new TransferError(sentence, 'late'));
    };
    request.setTimeout(limits.idleMs, () => giveUp(`The host '${host}' sent nothing for ${limits.idleMs / 1000} s`));
    const end = () => giveUp(`The host '${host}' took more than ${limits.totalMs / 1000} s`);
    let timer: NodeJS.Timeout | undefined;
    // The time counts only once the request has a connection.
    request.on('socket', () => {
      timer = setTimeout(end, limits.totalMs).unref();
    });
    request.on('close', () => clearTimeout(timer));
    request.on('error', (error) => reject(asTransferError(error, host)));
    request.on('response', (response) => {
      answer = response;
      // The reader of the body gets its errors; between reads, nobody listens for them.
      response.on('error', () => {});
      resolve({
        status: response.statusCode!,
        headers: response.headers,
        body: readBody(response, host),
        drop: () => {
          if (!response.readableEnded) response.destroy();
        },
      });
    });
    request.end(body);
  });
}

async function* readBody(response: IncomingMessage, host: string): AsyncGenerator<Buffer> {
  let bytes = 0;
  try {
    for await (const chunk of response) {
      bytes += chunk.length;
      yield chunk;
    }
  } catch (error) {
    const announced = response.headers['content-length'];
    if (announced !== undefined && !(error instanceof TransferError)) {
      throw new TransferError(`The host '${host}' sent ${bytes} of the ${announced} bytes that it announced`, 'cut');
    }
    throw asTransferError(error, host);
  }
}
