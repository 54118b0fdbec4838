import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { chooseEncoding, type Encoding } from './choose-encoding.ts';

/** Shorter bodies fit into a packet uncompressed. */
const leastBytes = 1_400;

const compress: Record<Encoding, (body: Uint8Array) => Promise<Buffer>> = {
  // Brotli at this quality gives the size of gzip's default in a third of the time.
  br: (body) => promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  gzip: (body) => promisify(gzip)(body),
};

/** Sends a whole body, compressed if the caller accepts that, or 304 if the caller has it already. */
export async function sendBody(
  request: IncomingMessage,
  response: ServerResponse,
  type: string,
  body: Uint8Array,
): Promise<void> {
  response.setHeader('x-content-type-options', 'nosniff');
  if (response.statusCode === 200) {
    // A weak tag, because it is the same for every encoding.
    const etag = `W/"${createHash('sha1').update(body).digest('base64url')}"`;
    response.setHeader('etag', etag);
    if (hasIt(request, etag)) return void response.writeHead(304).end();
  }
  response.appendHeader('vary', 'accept-encoding');
  const encoding = body.length >= leastBytes ? chooseEncoding(request.headers['accept-encoding']) : undefined;
  const sent = encoding ? await compress[encoding](body) : body;
  if (encoding) response.setHeader('content-encoding', encoding);
  response.setHeader('content-type', type);
  response.setHeader('content-length', sent.length);
  response.end(request.method === 'HEAD' ? undefined : sent);
}

/** Whether a caller already has the content with this tag (If-None-Match). */
export function hasIt({ headers }: IncomingMessage, etag: string): boolean {
  const given = headers['if-none-match'];
  if (given === undefined) return false;
  const plain = (tag: string): string => tag.trim().replace(/^W\//, '');
  return given.trim() === '*' || given.split(',').some((tag) => plain(tag) === plain(etag));
}
