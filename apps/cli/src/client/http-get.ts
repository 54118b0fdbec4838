import { type IncomingMessage, get as plainGet } from 'node:http';
import { get as secureGet } from 'node:https';
import { text } from 'node:stream/consumers';
import type { ClientSecurity } from '@halogrid/service';

/** A server that says nothing for so long is gone. */
const silentWithinMs = 30_000;

/**
 * Asks a coordinator's HTTP server for a path and resolves with the body, to be read. Rejects with one sentence: the
 * server's own where it refuses.
 */
export async function httpGet(address: string, path: string, { tls, token }: ClientSecurity): Promise<IncomingMessage> {
  const now = token();
  const headers = now ? { authorization: `Bearer ${now}` } : {};
  const url = new URL(path, `${tls ? 'https' : 'http'}://${address}`);
  const options = { headers, timeout: silentWithinMs };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const request = tls ? secureGet(url, { ...options, ...tls.current() }, resolve) : plainGet(url, options, resolve);
    request.on('timeout', () => request.destroy(new Error(`it said nothing for ${silentWithinMs / 1000} s`)));
    request.on('error', (error) => {
      reject(new Error(`No coordinator answers over HTTP at ${address} (--http): ${error.message || 'no connection'}`));
    });
  });
  if (response.statusCode === 200) return response;
  throw new Error(`The coordinator at ${address} refuses: ${sentenceOf(await text(response), response.statusCode)}`);
}

/** The reason in the body, which is JSON or a line. */
function sentenceOf(body: string, statusCode: number | undefined): string {
  try {
    const { error } = JSON.parse(body);
    if (typeof error === 'string') return error;
  } catch {
    // A line of text.
  }
  return body.split('\n')[0] || `status ${statusCode}`;
}
