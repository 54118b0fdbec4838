import { Readable } from 'node:stream';
import { httpCalls, type ResultFiles, servedResults } from '@halogrid/client';
import { type Place, placeOfUri, type StoredFile } from '@halogrid/results/place';
import type { ClientSecurity } from '@halogrid/service';
import { nodeFetch } from './node-fetch.ts';

type Opened = Awaited<ReturnType<ResultFiles['open']>>;

/** The result files of an output that this machine can read, in a bucket with this process's credentials. */
export function filesOfPlace(out: Place): ResultFiles {
  const fileOf = async (name: string): Promise<StoredFile> => {
    const file = await out.in(name).file();
    if (!file) throw new Error(`The output '${out.at}' has no file '${name}'`);
    return file;
  };
  return {
    async list() {
      const files: { name: string; bytes: number }[] = [];
      for await (const { name, sizeBytes } of out.files((entry) => entry !== '.halogrid')) {
        files.push({ name, bytes: sizeBytes });
      }
      return files;
    },
    open: async (name) => Readable.toWeb(Readable.from((await fileOf(name)).stream())) as Opened,
    slice: async (name, start, end) => Uint8Array.from(await (await fileOf(name)).read(start, end)).buffer,
  };
}

/** The result files of an output with this file: or s3: URI. */
export const filesOfOutput = (uri: string): ResultFiles => filesOfPlace(placeOfUri(uri));

/** The result files of a job over HTTP, from the first of these coordinators that has them. */
export function servedFiles(addresses: readonly string[], jobId: string, security: ClientSecurity): ResultFiles {
  const all = addresses.map((address) => filesAt(address, jobId, security));
  let serving = all[0]!;
  return {
    async list() {
      const refusals: string[] = [];
      for (const files of all) {
        try {
          const list = await files.list();
          serving = files;
          return list;
        } catch (error) {
          refusals.push((error as Error).message);
        }
      }
      throw new Error(refusals.join('; '));
    },
    open: (name) => serving.open(name),
    slice: (name, start, end) => serving.slice(name, start, end),
  };
}

function filesAt(address: string, jobId: string, security: ClientSecurity): ResultFiles {
  const { tls, token } = security;
  const files = servedResults(
    httpCalls(`${tls ? 'https' : 'http'}://${address}`, { token, fetch: nodeFetch(tls) }),
    jobId,
  );
  const saying = async <T>(answer: Promise<T>): Promise<T> => {
    try {
      return await answer;
    } catch (error) {
      const { message, cause } = error as Error;
      const why = cause instanceof Error ? cause.message || 'no connection' : undefined;
      throw new Error(
        why === undefined
          ? `The coordinator at ${address} refuses: ${message}`
          : `No coordinator answers over HTTP at ${address} (--http): ${why}`,
      );
    }
  };
  return {
    list: () => saying(files.list()),
    open: (name) => saying(files.open(name)),
    slice: (name, start, end) => saying(files.slice(name, start, end)),
  };
}
