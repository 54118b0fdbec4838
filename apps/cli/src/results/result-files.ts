import { createReadStream } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { httpCalls, type ResultFiles, servedResults } from '@halogrid/client';
import type { ClientSecurity } from '@halogrid/service';
import { isBucketUri } from '@halogrid/sources/prefix-uri';
import { nodeFetch } from './node-fetch.ts';

type Opened = Awaited<ReturnType<ResultFiles['open']>>;

/** The result files in a folder of this machine. */
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
    open: async (name) => Readable.toWeb(createReadStream(join(folder, name))) as Opened,
    async slice(name, start, end) {
      const file = await open(join(folder, name));
      try {
        const bytes = new Uint8Array(end - start);
        const { bytesRead } = await file.read(bytes, 0, bytes.length, start);
        return bytes.buffer.slice(0, bytesRead);
      } finally {
        await file.close();
      }
    },
  };
}

/** The result files below a prefix of a bucket, read with this process's credentials. */
export function bucketFiles(uri: string): ResultFiles {
  // Loaded late, because commands that read no bucket import this file too.
  const opening = import('@halogrid/sources/bucket-prefix').then(({ BucketPrefix }) => new BucketPrefix(uri));
  opening.catch(() => {});
  return {
    async list() {
      const files: { name: string; bytes: number }[] = [];
      for await (const { name, sizeBytes } of (await opening).list()) {
        if (!name.startsWith('.halogrid/')) files.push({ name, bytes: sizeBytes });
      }
      return files;
    },
    open: async (name) => Readable.toWeb(Readable.from((await opening).read(name))) as Opened,
    slice: async (name, start, end) => Uint8Array.from(await (await opening).slice(name, start, end)).buffer,
  };
}

/** The result files of an output that this machine can read. */
export const filesOfOutput = (out: string): ResultFiles =>
  isBucketUri(out) ? bucketFiles(out) : localFiles(fileURLToPath(out));

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
