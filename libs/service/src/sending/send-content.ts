import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createBrotliCompress, createGzip } from 'node:zlib';
import { errorAnswer } from '@halogrid/proto/error-answer';
import { parseByteRange } from './byte-range.ts';
import { chooseEncoding, type Encoding } from './choose-encoding.ts';
import { hasIt } from './send-body.ts';
import { sendJson } from './send-json.ts';

const mediaTypes: Record<string, string> = {
  '.json': 'application/json',
  '.jsonl': 'application/x-ndjson',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.tif': 'image/tiff',
  '.jpg': 'image/jpeg',
  '.parquet': 'application/vnd.apache.parquet',
};

/** Extensions of files that are not compressed already. */
const texts = new Set(['.json', '.jsonl', '.svg']);

/** What is sent. Its name has the extension that says what it is. */
export interface SentContent {
  name: string;
  size: number;
  /** Differs for other bytes; without quotes. */
  version: string;
  /** Its bytes from `start` to `end`, which is included. */
  open: (range: { start: number; end: number }) => Readable;
}

/** Sends a content, or the requested range of it. A whole text is compressed if the caller accepts that. */
export async function sendContent(
  request: IncomingMessage,
  response: ServerResponse,
  { name: path, size, version: name, open }: SentContent,
): Promise<void> {
  const etag = `"${name}"`;
  const condition = request.headers['if-range'];
  const header = condition === undefined || condition === etag ? request.headers.range : undefined;
  const range = parseByteRange(header, size);
  response.setHeader('accept-ranges', 'bytes');
  if (range.kind === 'unsatisfiable') {
    response.setHeader('content-range', `bytes */${size}`);
    const error = `Expected a range inside of ${size} bytes but received '${header}'`;
    return sendJson(request, response, 416, errorAnswer('OUT_OF_RANGE', error, 'range'));
  }
  const isText = texts.has(extname(path));
  const encoding = isText && !request.headers.range ? chooseEncoding(request.headers['accept-encoding']) : undefined;
  // Ranges refer to the bytes of the file, so a compressed file has another tag, which gives no ranges.
  response.setHeader('etag', encoding ? `"${name}-${encoding}"` : etag);
  if (isText) response.appendHeader('vary', 'accept-encoding');
  if (hasIt(request, etag) || (encoding && hasIt(request, `"${name}-${encoding}"`))) {
    return void response.writeHead(304).end();
  }
  const { start, end } = range.kind === 'part' ? range : { start: 0, end: size - 1 };
  if (range.kind === 'part') response.setHeader('content-range', `bytes ${start}-${end}/${size}`);
  if (encoding) response.setHeader('content-encoding', encoding);
  else response.setHeader('content-length', end - start + 1);
  response.writeHead(range.kind === 'part' ? 206 : 200, {
    'content-type': mediaTypes[extname(path)] ?? 'application/octet-stream',
    // A chart holds names of sources, so nothing in it may run as a page of this server.
    'content-security-policy': "sandbox; default-src 'none'; style-src 'unsafe-inline'",
    'x-content-type-options': 'nosniff',
  });
  if (request.method === 'HEAD' || size === 0) return void response.end();
  const file = open({ start, end });
  await (encoding ? pipeline(file, compressor(encoding), response) : pipeline(file, response));
}

const compressor = (encoding: Encoding) =>
  encoding === 'br' ? createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }) : createGzip();
