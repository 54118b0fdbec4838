import { createReadStream } from 'node:fs';
import { lstat, readdir, realpath, stat } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname, join, relative, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Log } from '@halogrid/service';
import type { Ledger } from '../ledger/ledger.ts';
import { resultEntries } from '../output/output-folder.ts';
import { parseByteRange } from './byte-range.ts';
import { NoResult, resultsFolder } from './results-folder.ts';
import { parseResultsPath, type ResultsRequest } from './results-path.ts';

const mediaTypes: Record<string, string> = {
  '.json': 'application/json',
  '.jsonl': 'application/x-ndjson',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.tif': 'image/tiff',
  '.jpg': 'image/jpeg',
  '.parquet': 'application/vnd.apache.parquet',
};

/**
 * Answers GET and HEAD of /api/v1/jobs/ID/results with the files of a complete job, `{"files": [{"name", "bytes"}],
 * "grpcPort"}`. Paths below it give each file, whole or a range of bytes. At the port, `halogrid results` finds the
 * job.
 */
export function createResultsApi(
  ledger: Ledger,
  grpcPort: number,
  log: Log,
): (request: IncomingMessage, response: ServerResponse) => boolean {
  return (request, response) => {
    const wanted = parseResultsPath((request.url ?? '').split('?')[0]!);
    if (!wanted) return false;
    answer(ledger, grpcPort, wanted, request, response).catch((error) => {
      // Headers are sent: only truncation can signal failure. Mostly it was the reader who left.
      if (response.headersSent) return response.destroy();
      if (!(error instanceof NoResult)) log.error({ err: error }, 'A request for results failed');
      const statusCode = error instanceof NoResult ? error.statusCode : 500;
      const sentence = error instanceof NoResult ? error.message : 'The results could not be read';
      sendJson(request, response, statusCode, { error: sentence });
    });
    return true;
  };
}

async function answer(
  ledger: Ledger,
  grpcPort: number,
  wanted: ResultsRequest,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD');
    throw new NoResult(405, `Expected GET or HEAD but received ${request.method}`);
  }
  const folder = await resultsFolder(ledger, wanted.jobId);
  if (wanted.kind === 'list') return sendJson(request, response, 200, { files: await listFiles(folder), grpcPort });
  const path = wanted.kind === 'file' ? await fileInside(folder, wanted.names) : undefined;
  if (!path) throw new NoResult(404, `Job ${wanted.jobId} has no such result; the list is at /api/v1/jobs/ID/results`);
  await sendFile(request, response, path);
}

async function listFiles(folder: string): Promise<{ name: string; bytes: number }[]> {
  const files: { name: string; bytes: number }[] = [];
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

/** The file, unless a link leads out of the folder; undefined where there is none. */
async function fileInside(folder: string, names: readonly string[]): Promise<string | undefined> {
  const path = await realpath(join(folder, ...names)).catch(() => undefined);
  return path?.startsWith(folder + sep) && (await stat(path)).isFile() ? path : undefined;
}

async function sendFile(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
  const { size, mtimeMs } = await stat(path);
  const etag = `"${size.toString(16)}-${Math.round(mtimeMs).toString(16)}"`;
  const condition = request.headers['if-range'];
  const header = condition === undefined || condition === etag ? request.headers.range : undefined;
  const range = parseByteRange(header, size);
  response.setHeader('accept-ranges', 'bytes');
  response.setHeader('etag', etag);
  if (range.kind === 'unsatisfiable') {
    response.setHeader('content-range', `bytes */${size}`);
    throw new NoResult(416, `Expected a range inside of ${size} bytes but received '${header}'`);
  }
  const { start, end } = range.kind === 'part' ? range : { start: 0, end: size - 1 };
  if (range.kind === 'part') response.setHeader('content-range', `bytes ${start}-${end}/${size}`);
  response.writeHead(range.kind === 'part' ? 206 : 200, {
    'content-type': mediaTypes[extname(path)] ?? 'application/octet-stream',
    'content-length': end - start + 1,
    // Names of sources are in the chart: nothing of it may run as a page of this server.
    'content-security-policy': "sandbox; default-src 'none'; style-src 'unsafe-inline'",
    'x-content-type-options': 'nosniff',
  });
  if (request.method === 'HEAD' || size === 0) response.end();
  else await pipeline(createReadStream(path, { start, end }), response);
}

function sendJson(request: IncomingMessage, response: ServerResponse, statusCode: number, body: object): void {
  response.writeHead(statusCode, { 'content-type': 'application/json; charset=utf-8' });
  response.end(request.method === 'HEAD' ? undefined : JSON.stringify(body));
}
