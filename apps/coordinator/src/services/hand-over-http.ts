import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { dirname, join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { sampleBytes } from '@halogrid/geometry';
import { chunkKinds } from '@halogrid/results';
import type { Log } from '@halogrid/service';
import { allowedPath, bytesOfVersion, holdsVersion, localVersion, SourceForbiddenError } from '@halogrid/sources';
import type { HandedJob, HandOver } from './hand-over.ts';

/** Bands that a pixel of a chunk has at most. */
const maxBands = 4;

/**
 * What a chunk may hold beyond its pixels. The chunks in a shard of a Zarr reach beyond the image by less than their
 * side, and its index has fewer bytes. Sums take twice the bytes of a pixel, but there is one for at least four pixels,
 * plus those of blocks at the edges.
 */
const margins: Partial<Record<string, { px: number; bytes: number }>> = {
  shard: { px: 512, bytes: 2 ** 14 },
  sums: { px: 1, bytes: 0 },
};

/** A refused request: an HTTP status and one sentence. */
class HttpError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Answers /handover/…, as `hand_over` in nodes.proto says; returns false for other paths. */
export function createHandOverRoute(
  handOver: HandOver,
  log: Log,
): (request: IncomingMessage, response: ServerResponse) => boolean {
  return (request, response) => {
    const [, first, jobId = '', token = '', ...rest] = (request.url ?? '').split('?')[0]!.split('/');
    if (first !== 'handover') return false;
    answer(request, response, handOver.find(decode(jobId), token), rest).catch((error: Error) => {
      if (!(error instanceof HttpError)) log.error({ err: error }, 'A file could not be handed over');
      if (response.headersSent) return void response.destroy();
      const status = error instanceof HttpError ? error.status : 500;
      // What is left of a body is not waited for.
      response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' });
      response.end(`${error instanceof HttpError ? error.message : 'The file could not be read or written'}\n`);
    });
    return true;
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  job: HandedJob | undefined,
  [what, ...rest]: string[],
): Promise<void> {
  if (!job) throw new HttpError(403, 'The token is not that of a lease that is held');
  if (what === 'sources' && request.method === 'GET') return sendSource(request, response, job, rest);
  if (what === 'chunks' && request.method === 'PUT') return takeChunk(request, response, job, rest);
  response.setHeader('allow', what === 'chunks' ? 'PUT' : 'GET');
  throw new HttpError(405, 'Expected GET of a source or PUT of a chunk');
}

async function sendSource(
  request: IncomingMessage,
  response: ServerResponse,
  job: HandedJob,
  [index]: string[],
): Promise<void> {
  const { uri, version } = job.sources.get(Number(index)) ?? {};
  if (!uri?.startsWith('file:')) throw new HttpError(404, 'There is no such file among the sources of the leases');
  const file = await openSource(uri);
  try {
    if (version !== undefined && !(await holdsVersion(file, version))) {
      throw new HttpError(412, 'The file is not what it was when the job was planned');
    }
    const handed = version ?? localVersion(await file.stat());
    const size = bytesOfVersion(handed);
    const etag = `"${handed.replaceAll(' ', '-')}"`;
    response.setHeader('etag', etag);
    const { range, 'if-match': ifMatch } = request.headers;
    if (ifMatch !== undefined && ifMatch !== etag) throw new HttpError(412, 'The file has changed');
    const [, first, last] = /^bytes=(\d{1,15})-(\d{1,15})$/.exec(range ?? '') ?? [];
    const start = Number(first ?? 0);
    const end = Math.min(Number(last ?? Number.POSITIVE_INFINITY) + 1, size);
    if (first !== undefined && start >= end) {
      response.setHeader('content-range', `bytes */${size}`);
      throw new HttpError(416, `Expected a range of the ${size} bytes`);
    }
    const headers = { 'content-length': end - start, 'content-type': 'application/octet-stream' };
    if (first === undefined) response.writeHead(200, headers);
    else response.writeHead(206, { ...headers, 'content-range': `bytes ${start}-${end - 1}/${size}` });
    if (start === end) return void response.end();
    await pipeline(file.createReadStream({ start, end: end - 1, autoClose: false }), response);
  } finally {
    await file.close();
  }
}

async function openSource(uri: string): Promise<FileHandle> {
  const file = await open(await allowedPath(fileURLToPath(uri))).catch((error: NodeJS.ErrnoException) => {
    if (error instanceof SourceForbiddenError) throw new HttpError(403, error.message);
    throw new HttpError(error.code === 'ENOENT' ? 404 : 403, `The file cannot be read (${error.code})`);
  });
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw new HttpError(403, 'Not a file');
}

/** Keeps a chunk under its name, as `writeChunk` does: whole, or not at all, and never where the job's folder is gone. */
async function takeChunk(
  request: IncomingMessage,
  response: ServerResponse,
  job: HandedJob,
  path: string[],
): Promise<void> {
  const part = path[0] === 'pipelines' ? job.pipelines.find((pipeline) => pipeline === path[1]) : undefined;
  const [kind, source, name] = part === undefined ? path : path.slice(2);
  const sizes = /^\d{1,10}-\d{1,10}-(\d{1,10})-(\d{1,10})\.([a-z0-9]+)$/.exec(name ?? '');
  const unit = (sampleBytes as Record<string, number | undefined>)[sizes?.[3] ?? ''];
  if (!chunkKinds.some((one) => one === kind) || !sizes || !unit || !job.sources.has(Number(source))) {
    throw new HttpError(404, 'Expected the chunk of a source of the leases');
  }
  const length = Number(request.headers['content-length'] ?? Number.NaN);
  const { px, bytes } = margins[kind!] ?? { px: 0, bytes: 0 };
  const most = (Number(sizes[1]) + px) * (Number(sizes[2]) + px) * unit * maxBands + bytes;
  if (Number.isNaN(length)) throw new HttpError(411, 'Expected the length of the chunk');
  if (length > most) throw new HttpError(413, `Expected at most ${most} bytes but received ${length}`);
  const [, expected] = /^sha-256=:([A-Za-z0-9+/]{43}=):$/.exec(String(request.headers['content-digest'])) ?? [];
  if (!expected) throw new HttpError(400, 'Expected Content-Digest: sha-256=:…:');

  const scratch = await allowedPath(fileURLToPath(job.scratch));
  const below = part === undefined ? [] : ['pipelines', part];
  const file = join(scratch, ...below, kind!, String(Number(source)), name!);
  const temporary = `${file}.${randomUUID()}.tmp`;
  for (const folder of [dirname(dirname(file)), dirname(file)]) {
    await mkdir(folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
  const digest = createHash('sha256');
  const hashing = new Transform({
    transform(chunk, _encoding, done) {
      digest.update(chunk);
      done(null, chunk);
    },
  });
  try {
    await pipeline(request, hashing, createWriteStream(temporary, { flags: 'wx' }));
    if (digest.digest('base64') !== expected) throw new HttpError(400, 'The chunk is not the one that was sent');
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  response.writeHead(204).end();
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}
