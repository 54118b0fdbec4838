// Servers for tests: files over HTTP with every way of going wrong, and a small S3 that checks signatures by itself.
import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createTestStore } from './test-store.ts';

/** A server on a free port of this machine. */
export interface TestServer {
  /** http://127.0.0.1:PORT. */
  readonly origin: string;
  close(): Promise<void>;
}

export async function startServer(listener: RequestListener): Promise<TestServer> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** How one file is served: unless an option is set, as a good server does it. */
export interface ServedFile {
  bytes: Uint8Array;
  etag?: string;
  lastModified?: string;
  /** Whole files only. */
  withoutRanges?: boolean;
  /** In chunks of no announced length. */
  withoutLength?: boolean;
  /** The most bytes of a part that it sends, however many are requested. */
  mostOfPart?: number;
  /** Parts come without the length of the file. */
  withoutTotal?: boolean;
  /** Every answer is cut after this many bytes of its body. */
  cutAfter?: number;
}

/** Answers with a file or the part of it that is asked for, or 412 if it has another version. */
export function sendFile(file: ServedFile, request: IncomingMessage, response: ServerResponse): void {
  const { bytes, etag, lastModified } = file;
  if (etag) response.setHeader('etag', etag);
  if (lastModified) response.setHeader('last-modified', lastModified);
  const { range, 'if-match': ifMatch, 'if-unmodified-since': unmodifiedSince } = request.headers;
  const isOther = (ifMatch && ifMatch !== etag) || (unmodifiedSince && unmodifiedSince !== lastModified);
  if (isOther) return void response.writeHead(412).end();
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(file.withoutRanges ? '' : (range ?? '')) ?? [];
  const start = Number(first ?? 0);
  const most = first === undefined ? Number.POSITIVE_INFINITY : start + (file.mostOfPart ?? Number.POSITIVE_INFINITY);
  const end = Math.min(Number(last ?? Number.POSITIVE_INFINITY) + 1, bytes.length, most);
  if (first !== undefined && start >= bytes.length) {
    return void response.writeHead(416, { 'content-range': `bytes */${bytes.length}` }).end();
  }
  const body = bytes.subarray(start, end);
  if (!file.withoutLength) response.setHeader('content-length', body.length);
  if (first === undefined) response.writeHead(200);
  else
    response.writeHead(206, { 'content-range': `bytes ${start}-${end - 1}/${file.withoutTotal ? '*' : bytes.length}` });
  if (file.cutAfter === undefined || file.cutAfter >= body.length) response.end(body);
  else response.write(body.subarray(0, file.cutAfter), () => setImmediate(() => response.destroy()));
}

export interface TestS3Options {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
  region: string;
  bucket: string;
  /** Names of a page of a list, at most (1000). */
  pageKeys?: number;
  /** A list of names is answered once this resolves. */
  beforeList?: () => Promise<void>;
  /** Takes no notice of If-None-Match. */
  ignoresConditions?: boolean;
  /** Asked before each signed request: how it fails. `cut`: it takes effect, and its answer is lost. */
  fault?: (request: IncomingMessage) => 'busy' | 'drop' | 'cut' | 'refuse' | undefined;
  /** Whether an object that was written is not listed yet. */
  listsLate?: (key: string) => boolean;
  /** When an object was written, as a list says it; by default it does not. */
  changed?: (key: string) => string | undefined;
}

/** A bucket at a path of the server, as S3 answers for it. */
export interface TestS3 extends TestServer {
  readonly objects: Map<string, Buffer>;
  /** What a program needs to be told of it. */
  readonly environment: Record<string, string | undefined>;
  /** What was asked for, in order: method, path and query. */
  readonly requests: string[];
}

/** Answers only requests that are signed as these credentials sign them. */
export async function startTestS3(options: TestS3Options): Promise<TestS3> {
  const objects = new Map<string, Buffer>();
  const requests: string[] = [];
  const store = createTestStore(objects, options);
  const server = await startServer(async (request, response) => {
    requests.push(`${request.method} ${request.url}`);
    const refuse = (status: number, code: string): void => {
      const secret = `${options.accessKeyId} ${options.secretAccessKey}`;
      const xml = `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${secret}</Message></Error>`;
      response.writeHead(status, { 'content-type': 'application/xml' }).end(xml);
    };
    const { authorization } = request.headers;
    if (!authorization) return refuse(403, 'AccessDenied');
    if (authorization !== signatureOf(request, authorization, options)) return refuse(403, 'SignatureDoesNotMatch');
    const url = new URL(request.url!, 'http://host');
    const [bucket, ...parts] = url.pathname.slice(1).split('/').map(decodeURIComponent);
    const key = parts.join('/');
    if (bucket !== options.bucket) return refuse(404, 'NoSuchBucket');
    const fault = options.fault?.(request);
    if (fault === 'busy') return refuse(503, 'SlowDown');
    if (fault === 'refuse') return refuse(403, 'AccessDenied');
    if (fault === 'drop') return void request.socket.destroy();
    const changed = await store.answer(request, key, url.searchParams);
    if (fault === 'cut') return void request.socket.destroy();
    if (changed?.code) return refuse(changed.status, changed.code);
    if (changed) return void response.writeHead(changed.status, changed.headers).end(changed.body);
    if (key === '' && url.searchParams.get('list-type') === '2') {
      const listed = () => [...objects].filter(([name]) => !options.listsLate?.(name));
      const answer = () =>
        response.end(listObjects(listed(), url.searchParams, options.pageKeys ?? 1000, options.changed));
      return void (options.beforeList?.().then(answer) ?? answer());
    }
    const bytes = objects.get(key);
    if (!bytes) return refuse(404, 'NoSuchKey');
    const tag = store.tags.get(key);
    if (tag) response.setHeader('x-amz-meta-halogrid-upload', tag);
    sendFile({ bytes, etag: `"${md5(bytes)}"` }, request, response);
  });
  const environment = {
    AWS_ENDPOINT_URL_S3: undefined,
    AWS_ENDPOINT_URL: server.origin,
    AWS_REGION: options.region,
    AWS_ACCESS_KEY_ID: options.accessKeyId,
    AWS_SECRET_ACCESS_KEY: options.secretAccessKey,
    AWS_SESSION_TOKEN: options.sessionToken,
  };
  return { ...server, objects, environment, requests };
}

const md5 = (bytes: Buffer): string => createHash('md5').update(bytes).digest('hex');

/** The Authorization header that a request must have: signature version 4, from its specification. */
function signatureOf(
  request: IncomingMessage,
  given: string,
  { accessKeyId, secretAccessKey, sessionToken, region }: TestS3Options,
): string {
  const signed = /SignedHeaders=([^,]+)/.exec(given)?.[1]?.split(';') ?? [];
  const mustBeSigned = [
    'host',
    'x-amz-content-sha256',
    'x-amz-date',
    ...(sessionToken ? ['x-amz-security-token'] : []),
  ];
  if (!mustBeSigned.every((name) => signed.includes(name))) return 'not all headers are signed';
  if (request.headers['x-amz-security-token'] !== sessionToken) return 'another session';
  const time = String(request.headers['x-amz-date']);
  if (Math.abs(Date.now() - Date.parse(time.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z'))) > 9e5) {
    return 'another time';
  }
  const [path = '', query = ''] = request.url!.split('?');
  const encode = (text: string) =>
    encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  const pairs = [...new URLSearchParams(query)].map(([name, value]) => `${encode(name)}=${encode(value)}`);
  const canonical = [
    request.method,
    path.split('/').map(decodeURIComponent).map(encode).join('/'),
    pairs.sort().join('&'),
    ...signed.map((name) => `${name}:${String(request.headers[name]).trim()}`),
    '',
    signed.join(';'),
    request.headers['x-amz-content-sha256'],
  ].join('\n');
  const scope = `${time.slice(0, 8)}/${region}/s3/aws4_request`;
  const sha256 = createHash('sha256').update(canonical).digest('hex');
  const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();
  const key = scope.split('/').reduce<string | Buffer>((k, part) => hmac(k, part), `AWS4${secretAccessKey}`);
  const signature = hmac(key, ['AWS4-HMAC-SHA256', time, scope, sha256].join('\n')).toString('hex');
  const credential = `Credential=${accessKeyId}/${scope}`;
  return `AWS4-HMAC-SHA256 ${credential}, SignedHeaders=${signed.join(';')}, Signature=${signature}`;
}

/** ListObjectsV2 with a prefix, a delimiter, pages and escaped names. */
export function listObjects(
  objects: [string, Buffer][],
  query: URLSearchParams,
  pageKeys: number,
  changed: TestS3Options['changed'] = () => undefined,
): string {
  const prefix = query.get('prefix') ?? '';
  const delimiter = query.get('delimiter');
  const found = new Map<string, Buffer | 'folder'>();
  for (const [key, bytes] of objects) {
    if (!key.startsWith(prefix)) continue;
    const end = delimiter ? key.indexOf(delimiter, prefix.length) : -1;
    if (end < 0) found.set(key, bytes);
    else found.set(key.slice(0, end + 1), 'folder');
  }
  const from = Number(query.get('continuation-token') ?? 0);
  const names = [...found.keys()].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const page = names.slice(from, from + pageKeys);
  const encode = (name: string) => encodeURIComponent(name).replaceAll('%2F', '/').replaceAll('%20', '+');
  const entries = page.map((name) => {
    const bytes = found.get(name)!;
    const time = changed(name);
    const written = time === undefined ? '' : `<LastModified>${time}</LastModified>`;
    return bytes === 'folder'
      ? `<CommonPrefixes><Prefix>${encode(name)}</Prefix></CommonPrefixes>`
      : `<Contents><Key>${encode(name)}</Key><ETag>&quot;${md5(bytes)}&quot;</ETag><Size>${bytes.length}</Size>${written}</Contents>`;
  });
  const isTruncated = from + page.length < names.length;
  return [
    '<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">',
    `<EncodingType>url</EncodingType><IsTruncated>${isTruncated}</IsTruncated>`,
    isTruncated ? `<NextContinuationToken>${from + page.length}</NextContinuationToken>` : '',
    ...entries,
    '</ListBucketResult>',
  ].join('\n');
}
