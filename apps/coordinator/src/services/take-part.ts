import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { rename, stat } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { isPartId, mostPartBytes, partsFolder, pipelinePaths } from '@halogrid/results/shard-place';
import { syncFolder } from '@halogrid/results/write-file-atomically';
import { allowedPath } from '@halogrid/sources';
import type { HandedJob } from './hand-over.ts';
import { HandOverError } from './hand-over-error.ts';
import { statedDigest, takeFile } from './take-file.ts';

/**
 * Keeps a file of a part; the path is the id of the part and the path of the file in it. The list of sources of the
 * first pipeline comes last: then the part becomes durable and gets its name. A file that comes again after that is
 * accepted if it has the same bytes.
 */
export async function takePart(
  request: IncomingMessage,
  job: HandedJob,
  [part = '', ...path]: string[],
): Promise<void> {
  const paths = pathsOf(job);
  const lists = paths.map(({ sources }) => sources);
  const file = path.join('/');
  if (!isPartId(part) || !paths.some(({ sources, features }) => file === sources || file === features)) {
    throw new HandOverError(404, 'Expected a file of a part of the job');
  }
  const scratch = await allowedPath(fileURLToPath(job.scratch));
  const folder = join(scratch, partsFolder);
  const [growing, whole] = [join(folder, `${part}.tmp`), join(folder, part)];
  if (await isThere(whole)) return await compare(request, join(whole, file));
  await takeFile(request, scratch, [partsFolder, `${part}.tmp`, ...path], {
    mostBytes: mostPartBytes,
    isDurable: true,
  });
  await job.objects?.keep(`${partsFolder}/${part}/${file}`, join(growing, file));
  if (file !== lists[0]) return;
  for (const list of lists) {
    if (!(await isThere(join(growing, list)))) throw new HandOverError(409, `The part has no ${list} yet`);
  }
  const folders = new Set(lists.flatMap((list) => [dirname(list), dirname(dirname(list))]));
  for (const below of folders) await syncFolder(join(growing, below));
  await rename(growing, whole);
  for (const above of [folder, scratch]) await syncFolder(above);
}

/** The paths of files in a part. */
function pathsOf({ pipelines }: HandedJob): ReturnType<typeof pipelinePaths>[] {
  const names = pipelines.length > 0 ? pipelines : [''];
  return names.map((_, nth) => pipelinePaths('', names, nth));
}

const isThere = async (path: string): Promise<boolean> => (await stat(path).catch(() => undefined)) !== undefined;

async function compare(request: IncomingMessage, file: string): Promise<void> {
  const expected = statedDigest(request);
  request.resume();
  const digest = createHash('sha256');
  if (await isThere(file)) await pipeline(createReadStream(file), digest);
  if (digest.digest('base64') !== expected) throw new HandOverError(409, 'The part is whole and has another file');
}
