import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { type IncomingMessage, get as plainGet } from 'node:http';
import { get as secureGet } from 'node:https';
import { join, relative, sep } from 'node:path';
import type { Readable } from 'node:stream';
import { json, text } from 'node:stream/consumers';
import type { ClientSecurity } from '@halogrid/service';

export interface ResultFile {
  /** Path below the output folder, its parts separated by slashes. */
  name: string;
  bytes: number;
}

/** The results of a job, wherever they are. */
export interface ResultFiles {
  list(): Promise<ResultFile[]>;
  open(name: string): Promise<Readable>;
}

/** Those in a folder of this machine. */
export function localFiles(folder: string): ResultFiles {
  return {
    async list() {
      const entries = await readdir(folder, { recursive: true, withFileTypes: true });
      const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
      return Promise.all(
        files.map(async (path) => ({
          name: relative(folder, path).split(sep).join('/'),
          bytes: (await stat(path)).size,
        })),
      );
    },
    open: async (name) => createReadStream(join(folder, name)),
  };
}

/** Those that the first of the coordinators at HOST:PORT to have them serves over HTTP: of several only one leads. */
export function servedFiles(addresses: readonly string[], jobId: string, security: ClientSecurity): ResultFiles {
  const root = `/api/v1/jobs/${encodeURIComponent(jobId)}/results`;
  let serving = addresses[0]!;
  return {
    async list() {
      const refusals: string[] = [];
      for (const address of addresses) {
        try {
          const { files } = (await json(await httpGet(address, root, security))) as { files: ResultFile[] };
          serving = address;
          return files;
        } catch (error) {
          refusals.push((error as Error).message);
        }
      }
      throw new Error(refusals.join('; '));
    },
    open: (name) => httpGet(serving, `${root}/${name.split('/').map(encodeURIComponent).join('/')}`, security),
  };
}

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
