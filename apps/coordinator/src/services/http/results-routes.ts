import { lstat, readdir, realpath, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { Refusal } from '@halogrid/jobs/refusal';
import type { Ledger } from '@halogrid/ledger';
import type { ResultFile } from '@halogrid/proto';
import { resultEntries } from '@halogrid/results/output-entries';
import { sendFile } from '@halogrid/service/send-file';
import { resultsFolder } from '../results-folder.ts';
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
      async ({ path }) => ({ files: await listFiles(await resultsFolder(ledger, path.id!)), grpcPort }),
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
        const folder = await resultsFolder(ledger, path.id!);
        const names = resultNames(path.name!);
        const file = names && (await fileInside(folder, names));
        if (!file) {
          const list = 'the list is at /api/v1/jobs/ID/results';
          throw new Refusal('missing', `Job ${path.id} has no such result; ${list}`, 'name');
        }
        await sendFile(request, response, file);
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

/** The path of the file; undefined if it is missing, or a link leads out of the folder. */
async function fileInside(folder: string, names: readonly string[]): Promise<string | undefined> {
  const path = await realpath(join(folder, ...names)).catch(() => undefined);
  return path?.startsWith(folder + sep) && (await stat(path)).isFile() ? path : undefined;
}
