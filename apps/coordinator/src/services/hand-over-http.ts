import { type FileHandle, open } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import type { Log } from '@halogrid/service';
import { parseByteRange } from '@halogrid/service/byte-range';
import {
  allowedPath,
  beside,
  bytesOfVersion,
  holdsVersion,
  localVersion,
  parsePlaneUri,
  SourceForbiddenError,
} from '@halogrid/sources';
import type { HandedJob, HandOver } from './hand-over.ts';
import { HandOverError } from './hand-over-error.ts';
import { takeChunk } from './take-chunk.ts';
import { takePart } from './take-part.ts';

/** Answers /handover/…, as `hand_over` in nodes.proto says; returns false for other paths. */
export function createHandOverRoute(
  handOver: HandOver,
  log: Log,
): (request: IncomingMessage, response: ServerResponse) => boolean {
  return (request, response) => {
    const [, first, jobId = '', token = '', ...rest] = (request.url ?? '').split('?')[0]!.split('/');
    if (first !== 'handover') return false;
    answer(request, response, handOver.find(decode(jobId), token), rest).catch((error: Error) => {
      if (!(error instanceof HandOverError)) log.error({ err: error }, 'A file could not be handed over');
      if (response.headersSent) return void response.destroy();
      const status = error instanceof HandOverError ? error.status : 500;
      // The rest of the request's body is not waited for.
      response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' });
      response.end(`${error instanceof HandOverError ? error.message : 'The file could not be read or written'}\n`);
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
  if (!job) throw new HandOverError(403, 'The token does not belong to a lease that a node holds');
  if ((what === 'sources' || what === 'masks') && request.method === 'GET') {
    const [index, ...path] = rest;
    const source = job.sources.get(Number(index));
    const chunk = source && chunkOf(source.uri, path);
    return sendFile(request, response, what === 'masks' ? source?.mask : (chunk ?? source));
  }
  const take = { chunks: takeChunk, parts: takePart }[what ?? ''];
  if (take && request.method === 'PUT') {
    await take(request, job, rest);
    response.writeHead(204).end();
    return;
  }
  response.setHeader('allow', take ? 'PUT' : 'GET');
  throw new HandOverError(405, 'Expected GET of a source or mask, or PUT of a chunk or part');
}

async function sendFile(
  request: IncomingMessage,
  response: ServerResponse,
  { uri, version }: { uri?: string; version?: string } = {},
): Promise<void> {
  if (!uri?.startsWith('file:')) throw new HandOverError(404, 'There is no such file among the sources of the leases');
  const file = await openSource(uri);
  try {
    if (version !== undefined && !(await holdsVersion(file, version))) {
      throw new HandOverError(412, 'The file is not what it was when the job was planned');
    }
    const handed = version ?? localVersion(await file.stat());
    const size = bytesOfVersion(handed);
    const etag = `"${handed.replaceAll(' ', '-')}"`;
    response.setHeader('etag', etag);
    const { range, 'if-match': ifMatch } = request.headers;
    if (ifMatch !== undefined && ifMatch !== etag) throw new HandOverError(412, 'The file has changed');
    const asked = parseByteRange(range, size);
    if (asked.kind === 'unsatisfiable') {
      response.setHeader('content-range', `bytes */${size}`);
      throw new HandOverError(416, `Expected a range of the ${size} bytes`);
    }
    const { start, end } = asked.kind === 'part' ? asked : { start: 0, end: size - 1 };
    const headers = { 'content-length': end - start + 1, 'content-type': 'application/octet-stream' };
    if (asked.kind === 'whole') response.writeHead(200, headers);
    else response.writeHead(206, { ...headers, 'content-range': `bytes ${start}-${end}/${size}` });
    if (size === 0) return void response.end();
    await pipeline(file.createReadStream({ start, end, autoClose: false }), response);
  } finally {
    await file.close();
  }
}

/** The file of a chunk, if the path of the request leads to one beside the metadata of a Zarr array. */
function chunkOf(uri: string, path: readonly string[]): { uri: string; version?: undefined } | undefined {
  const plane = parsePlaneUri(uri);
  return plane && path.length > 0 && path.every((part) => /^(c|(c\.)?\d+(\.\d+)*)$/.test(part))
    ? { uri: beside(plane.file, path.join('/')) }
    : undefined;
}

async function openSource(uri: string): Promise<FileHandle> {
  const file = await open(await allowedPath(fileURLToPath(uri))).catch((error: NodeJS.ErrnoException) => {
    if (error instanceof SourceForbiddenError) throw new HandOverError(403, error.message);
    throw new HandOverError(error.code === 'ENOENT' ? 404 : 403, `The file cannot be read (${error.code})`);
  });
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw new HandOverError(403, 'Not a file');
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}
