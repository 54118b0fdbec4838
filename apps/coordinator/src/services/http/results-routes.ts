import { lstat, readdir, realpath, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { Readable } from 'node:stream';
import { Refusal } from '@halogrid/jobs/refusal';
import type { Ledger } from '@halogrid/ledger';
import type { ResultFile } from '@halogrid/proto';
import { resultEntries } from '@halogrid/results/output-entries';
import { type SentContent, sendContent, sendFile } from '@halogrid/service/send-file';
import type { BucketPrefix } from '@halogrid/sources';
import { isOfOutput } from '../../output/bucket/is-of-output.ts';
import { inBucket, type ResultsPlace, resultsPlace } from '../results-folder.ts';
import { resultNames } from './result-names.ts';
import { otherRoute, type Route, route } from './route.ts';

/**
 * Files of complete jobs: their list, and each file, whole or a range of its bytes. `halogrid results` reaches the
 * coordinator at `grpcPort`.
 */
export function resultsRoutes(ledger: Ledger, grpcPort: number): Route[] {
  const read = { method: 'GET', role: 'read' } as const;
  return [
    route(
      {
        ...read,
        name: 'listResults',
        path: '/jobs/{id}/results',
        summary: 'Files of a complete job',
        answer: 'ResultsAnswer',
      },
      async ({ path }) => {
        const place = await resultsPlace(ledger, path.id!);
        const files = 'folder' in place ? listFiles(place.folder) : inBucket(listObjects(place.prefix));
        return { files: await files, grpcPort };
      },
    ),
    otherRoute(
      {
        ...read,
        name: 'getResult',
        path: '/jobs/{id}/results/{name...}',
        summary: 'A file of a complete job, or a range of its bytes',
        answer: { type: 'application/octet-stream', words: 'The file, of the type that its name says' },
      },
      async ({ path, request }, response) => {
        const place = await resultsPlace(ledger, path.id!);
        const names = resultNames(path.name!);
        const file = names && (await contentOf(place, names));
        if (!file) {
          const list = 'the list is at /api/v1/jobs/ID/results';
          throw new Refusal('missing', `Job ${path.id} has no such result; ${list}`, 'name');
        }
        await (typeof file === 'string' ? sendFile(request, response, file) : sendContent(request, response, file));
      },
    ),
  ];
}

async function listFiles(folder: string): Promise<ResultFile[]> {
  const files: ResultFile[] = [];
  for (const entry of resultEntries) {
    const top = join(folder, entry);
    // Links are not followed: results have none.
    const found = await lstat(top).catch(() => undefined);
    if (!found) continue;
    const paths = found.isDirectory()
      ? (await readdir(top, { recursive: true, withFileTypes: true }))
          .filter((each) => each.isFile())
          .map((each) => join(each.parentPath, each.name))
      : [top];
    for (const path of paths.sort()) {
      files.push({ name: relative(folder, path).split(sep).join('/'), bytes: (await stat(path)).size });
    }
  }
  return files;
}

/** The path of a file, or the content of an object; undefined if it is missing. */
async function contentOf(place: ResultsPlace, names: readonly string[]): Promise<string | SentContent | undefined> {
  if ('folder' in place) return fileInside(place.folder, names);
  const name = names.join('/');
  const { prefix } = place;
  const found = await inBucket(prefix.head(name));
  return (
    found && {
      name,
      size: found.sizeBytes,
      version: found.etag,
      open: ({ start, end }) => Readable.from(prefix.read(name, start, end + 1)),
    }
  );
}

async function listObjects(prefix: BucketPrefix): Promise<ResultFile[]> {
  const files: ResultFile[] = [];
  for await (const { name, sizeBytes } of prefix.list()) {
    if (isOfOutput(name)) files.push({ name, bytes: sizeBytes });
  }
  return files;
}

/** The path of the file; undefined if it is missing, or a link leads out of the folder. */
async function fileInside(folder: string, names: readonly string[]): Promise<string | undefined> {
  const path = await realpath(join(folder, ...names)).catch(() => undefined);
  return path?.startsWith(folder + sep) && (await stat(path)).isFile() ? path : undefined;
}
