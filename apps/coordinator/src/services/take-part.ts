import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { rename, stat } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { syncFolder } from '@halogrid/results/write-file-atomically';
import { allowedPath } from '@halogrid/sources';
import type { HandedJob } from './hand-over.ts';
import { HandOverError } from './hand-over-error.ts';
import { statedDigest, takeFile } from './take-file.ts';

/** A part is ended at 32 MB of counts or 64 shards, whose blocks of sources have 8 MiB at most: no file of one comes near this. */
const mostBytes = 2 ** 32;

/** A UUID, which is not used again. */
const partName = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const fileNames = ['sources.parquet', 'features.parquet'];

/**
 * Keeps a file of a part, whose path is `[PART, FILE]` or `[PART, 'pipelines', NAME, FILE]`. A part has its name, and is durable, with
 * sources.parquet of its first pipeline, which comes last. What comes again is taken to be there where it has the same bytes.
 */
export async function takePart(
  request: IncomingMessage,
  job: HandedJob,
  [part = '', ...path]: string[],
): Promise<void> {
  const isLast = path.join() === lastFile(job).join();
  if (!partName.test(part) || !isFileOf(job, path)) {
    throw new HandOverError(404, 'Expected a file of a part of the job');
  }
  const folder = join(await allowedPath(fileURLToPath(job.scratch)), 'parts');
  const [growing, whole] = [join(folder, `${part}.tmp`), join(folder, part)];
  if (await isThere(whole)) return await compare(request, join(whole, ...path));
  await takeFile(request, dirname(folder), ['parts', `${part}.tmp`, ...path], { mostBytes, isDurable: true });
  await syncFolder(dirname(join(growing, ...path)));
  if (!isLast) return;
  for (const below of job.pipelines.length > 0 ? ['pipelines', '.'] : ['.']) await syncFolder(join(growing, below));
  await rename(growing, whole);
  await syncFolder(folder);
}

const folderOf = (job: HandedJob, pipeline: string): string[] =>
  job.pipelines.length > 0 ? ['pipelines', pipeline] : [];

const lastFile = (job: HandedJob): string[] => [...folderOf(job, job.pipelines[0]!), fileNames[0]!];

function isFileOf(job: HandedJob, path: readonly string[]): boolean {
  const name = path.at(-1);
  if (!fileNames.includes(name ?? '')) return false;
  if (job.pipelines.length === 0) return path.length === 1;
  return path.length === 3 && path[0] === 'pipelines' && job.pipelines.includes(path[1]!);
}

const isThere = async (path: string): Promise<boolean> => (await stat(path).catch(() => undefined)) !== undefined;

async function compare(request: IncomingMessage, file: string): Promise<void> {
  const expected = statedDigest(request);
  request.resume();
  const digest = createHash('sha256');
  if (await isThere(file)) await pipeline(createReadStream(file), digest);
  if (digest.digest('base64') !== expected) throw new HandOverError(409, 'The part is whole and has another file');
}
