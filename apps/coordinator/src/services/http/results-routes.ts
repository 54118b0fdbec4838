import { realpath } from 'node:fs/promises';
import { sep } from 'node:path';
import { Readable } from 'node:stream';
import { Refusal } from '@halogrid/jobs/refusal';
import type { Ledger } from '@halogrid/ledger';
import type { ResultFile } from '@halogrid/proto';
import { resultEntries } from '@halogrid/results/output-entries';
import { type Place, placeAt, type StoredFile } from '@halogrid/results/place';
import { sendContent } from '@halogrid/service/send-content';
import { isBucketUri } from '@halogrid/sources/prefix-uri';
import { resultsPlace } from '../results-place.ts';
import { whileReadable } from '../while-readable.ts';
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
        const files = listFiles(await resultsPlace(ledger, path.id!));
        return { files: await whileReadable(files), grpcPort };
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
        const asked = names && place.in(...names);
        const file = asked && (await whileReadable(fileInside(place, asked)));
        if (!file) {
          const list = 'the list is at /api/v1/jobs/ID/results';
          throw new Refusal('missing', `Job ${path.id} has no such result; ${list}`, 'name');
        }
        const { sizeBytes: size, version } = file;
        const open = ({ start, end }: { start: number; end: number }) => Readable.from(file.stream(start, end + 1));
        await sendContent(request, response, { name: asked.at, size, version, open });
      },
    ),
  ];
}

async function listFiles(place: Place): Promise<ResultFile[]> {
  const files: ResultFile[] = [];
  for await (const { name, sizeBytes } of place.files((entry) => resultEntries.includes(entry))) {
    files.push({ name, bytes: sizeBytes });
  }
  return files;
}

/** The file; undefined if it is missing, or a link leads out of the folder. */
async function fileInside(place: Place, asked: Place): Promise<StoredFile | undefined> {
  if (isBucketUri(place.at)) return asked.file();
  const path = await realpath(asked.at).catch(() => undefined);
  return path?.startsWith(place.at + sep) ? placeAt(path).file() : undefined;
}
