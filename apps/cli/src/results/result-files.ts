import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import type { Readable } from 'node:stream';
import { json } from 'node:stream/consumers';
import type { ClientSecurity } from '@halogrid/service';
import { httpGet } from '../client/http-get.ts';

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
