// For tests: what a small S3 answers to requests that change objects.
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

export interface StoreReply {
  status: number;
  /** Set for an error. */
  code?: string;
  headers?: Record<string, string>;
  body?: string;
}

interface GrowingUpload {
  key: string;
  tag: string | undefined;
  begun: string;
  parts: Map<number, Buffer>;
}

const tagHeader = 'x-amz-meta-halogrid-upload';
const md5 = (bytes: Buffer): string => createHash('md5').update(bytes).digest('hex');

/** PUT, DELETE, and uploads in parts, on `objects`. */
export function createTestStore(objects: Map<string, Buffer>, { ignoresConditions = false, bucket = '' }) {
  const uploads = new Map<string, GrowingUpload>();
  const tags = new Map<string, string>();
  let ids = 0;
  const refuse = (status: number, code: string): StoreReply => ({ status, code });
  const put = (key: string, bytes: Buffer, tag?: string): void => {
    objects.set(key, bytes);
    if (tag) tags.set(key, tag);
    else tags.delete(key);
  };

  function change(request: IncomingMessage, key: string, query: URLSearchParams, body: Buffer): StoreReply | undefined {
    const { method, headers } = request;
    const id = query.get('uploadId');
    if (method === 'POST' && query.has('uploads')) {
      const [newId, begun] = [`upload ${ids++}`, new Date().toISOString()];
      uploads.set(newId, { key, tag: headers[tagHeader]?.toString(), begun, parts: new Map() });
      return xml('InitiateMultipartUploadResult', `<UploadId>${newId}</UploadId>`);
    }
    if (method === 'GET' && query.has('uploads')) {
      const prefix = query.get('prefix') ?? '';
      const below = [...uploads].filter(([, upload]) => upload.key.startsWith(prefix));
      const each = below.map(
        ([id, { key, begun }]) =>
          `<Upload><Key>${key}</Key><UploadId>${id}</UploadId><Initiated>${begun}</Initiated></Upload>`,
      );
      return xml('ListMultipartUploadsResult', each.join(''));
    }
    if (id !== null) {
      const upload = uploads.get(id);
      if (!upload || upload.key !== key) return refuse(404, 'NoSuchUpload');
      return changeUpload(request, id, upload, query, body);
    }
    if (method === 'PUT') {
      if (headers['if-none-match'] === '*' && !ignoresConditions && objects.has(key)) {
        return refuse(412, 'PreconditionFailed');
      }
      put(key, body);
      return { status: 200, headers: { etag: `"${md5(body)}"` } };
    }
    if (method === 'DELETE') {
      objects.delete(key);
      return { status: 204 };
    }
    return undefined;
  }

  function changeUpload(
    { method, headers }: IncomingMessage,
    id: string,
    { key, tag, parts }: GrowingUpload,
    query: URLSearchParams,
    body: Buffer,
  ): StoreReply {
    const number = Number(query.get('partNumber'));
    const from = headers['x-amz-copy-source'];
    if (method === 'PUT' && from !== undefined) {
      const source = objects.get(decodeURIComponent(String(from)).slice(`/${bucket}/`.length));
      if (!source) return refuse(404, 'NoSuchKey');
      const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(String(headers['x-amz-copy-source-range']))!;
      const copied = source.subarray(Number(first), Number(last) + 1);
      parts.set(number, copied);
      return xml('CopyPartResult', `<ETag>&quot;${md5(copied)}&quot;</ETag>`);
    }
    if (method === 'PUT') {
      parts.set(number, body);
      return { status: 200, headers: { etag: `"${md5(body)}"` } };
    }
    if (method === 'GET') {
      const each = [...parts].map(
        ([n, bytes]) =>
          `<Part><PartNumber>${n}</PartNumber><ETag>"${md5(bytes)}"</ETag><Size>${bytes.length}</Size></Part>`,
      );
      return xml('ListPartsResult', each.join(''));
    }
    uploads.delete(id);
    if (method === 'DELETE') return { status: 204 };
    const named = [...body.toString().matchAll(/<PartNumber>(\d+)</g)].map(([, n]) => parts.get(Number(n)));
    if (named.length === 0 || named.includes(undefined)) return refuse(400, 'InvalidPart');
    put(key, Buffer.concat(named as Buffer[]), tag);
    return xml('CompleteMultipartUploadResult', `<Key>${key}</Key>`);
  }

  return {
    /** The tags of objects that came by uploads. */
    tags,
    /** Undefined for a request that only reads an object or a list. */
    async answer(request: IncomingMessage, key: string, query: URLSearchParams): Promise<StoreReply | undefined> {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const body = Buffer.concat(chunks);
      const sha256 = createHash('sha256').update(body).digest('hex');
      if (request.headers['x-amz-content-sha256'] !== sha256) return refuse(400, 'XAmzContentSHA256Mismatch');
      return change(request, key, query, body);
    },
  };
}

const xml = (name: string, content: string): StoreReply => {
  return { status: 200, body: `<?xml version="1.0"?><${name}>${content}</${name}>` };
};
