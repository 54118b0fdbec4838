import { type FileHandle, open } from 'node:fs/promises';
import { forEachLimited } from '@halogrid/threads';
import { tryAgain } from '../remote/get.ts';
import type { RemoteLimits } from '../remote/remote-limits.ts';
import { s3Place } from '../remote/s3-target.ts';
import { TransferError } from '../remote/transfer-error.ts';
import { type StoreAnswer, type StoreRequest, send } from './send.ts';

/** An upload in parts. Its object appears when it is completed, whole, and not before. */
export interface Upload {
  name: string;
  id: string;
  /** The object has it too, by which a completed upload is recognised. */
  tag: string;
}

/** An upload whose parts are all there: the ETag of each, in order. */
export interface WholeUpload extends Upload {
  etags: string[];
}

/** Stores take 5 MiB and more for each part but the last, and 10,000 parts. */
const partBytes = 2 ** 24;
const mostParts = 10_000;
const partsAtOnce = 4;
/** The header of an object's tag. */
export const tagHeader = 'x-amz-meta-halogrid-upload';

/** The most bytes that a store copies in one request. */
const copiedBytes = 2 ** 32;

/** Uploads of objects whose keys begin with `prefix`. Methods reject as `send` does. */
export class Uploads {
  readonly #bucket: string;
  readonly #prefix: string;
  readonly #limits: RemoteLimits;

  constructor(bucket: string, prefix: string, limits: RemoteLimits) {
    this.#bucket = bucket;
    this.#prefix = prefix;
    this.#limits = limits;
  }

  async begin(name: string, tag: string): Promise<Upload> {
    const { body } = await this.#send({
      method: 'POST',
      name,
      query: { uploads: '' },
      headers: { [tagHeader]: tag, 'content-type': contentType(name) },
    });
    const { parseUploadId } = await import('../s3/s3-xml.ts');
    const id = parseUploadId(body.toString());
    if (id === undefined) throw new TransferError(`The server does not begin an upload of '${name}' as S3 does`);
    return { name, id, tag };
  }

  /**
   * Sends the file at `path`; of an upload that `isOlder` than this call, only parts that are not there. Undefined: the
   * store has forgotten the upload.
   */
  async sendFile(upload: Upload, path: string, isOlder: boolean): Promise<WholeUpload | undefined> {
    const file = await open(path);
    try {
      const { size } = await file.stat();
      const length = Math.max(partBytes, Math.ceil(size / mostParts));
      const parts = Array.from({ length: Math.max(1, Math.ceil(size / length)) }, (_, i) => i);
      const there = isOlder ? await this.#parts(upload) : new Map<number, { etag: string; sizeBytes: number }>();
      if (!there) return undefined;
      const etags: string[] = [];
      await forEachLimited(parts, partsAtOnce, async (i) => {
        const bytes = Math.min(length, size - i * length);
        const known = there.get(i + 1);
        etags[i] =
          known?.sizeBytes === bytes
            ? known.etag
            : await this.#sendPart(upload, i, await readPart(file, i * length, bytes));
      });
      return { ...upload, etags };
    } finally {
      await file.close();
    }
  }

  async sendBytes(upload: Upload, bytes: Uint8Array): Promise<WholeUpload> {
    return { ...upload, etags: [await this.#sendPart(upload, 0, bytes)] };
  }

  /** Has the store copy another object, as it is now. */
  async copy(upload: Upload, from: { name: string; sizeBytes: number }): Promise<WholeUpload> {
    if (from.sizeBytes === 0) return this.sendBytes(upload, new Uint8Array());
    const { pathname } = s3Place(this.#bucket, '', {}).url;
    const source = s3Place(this.#bucket, this.#prefix + from.name, {}).url.pathname;
    const path = pathname === '/' ? `/${this.#bucket}${source}` : `/${this.#bucket}/${source.slice(pathname.length)}`;
    const etags: string[] = [];
    for (let at = 0; at < from.sizeBytes; at += copiedBytes) {
      const end = Math.min(at + copiedBytes, from.sizeBytes);
      const { body } = await this.#send({
        method: 'PUT',
        name: upload.name,
        query: { partNumber: String(etags.length + 1), uploadId: upload.id },
        headers: { 'x-amz-copy-source': path, 'x-amz-copy-source-range': `bytes=${at}-${end - 1}` },
      });
      const { parseCopied } = await import('../s3/s3-xml.ts');
      const etag = parseCopied(body.toString());
      if (etag === undefined) throw new TransferError(`The server did not copy '${from.name}'`);
      etags.push(etag);
    }
    return { ...upload, etags };
  }

  /**
   * Makes the object appear. Repeating it does no harm. Returns false if the upload was aborted, or another object has
   * replaced its object.
   */
  async complete(upload: WholeUpload): Promise<boolean> {
    const { name, id, tag, etags } = upload;
    const parts = etags.map((etag, i) => `<Part><PartNumber>${i + 1}</PartNumber><ETag>${escaped(etag)}</ETag></Part>`);
    const body = Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`);
    const { parseS3Error } = await import('../s3/s3-xml.ts');
    const isDone = await tryAgain(this.#limits, async () => {
      const answer = await this.#send({
        method: 'POST',
        name,
        query: { uploadId: id },
        headers: { 'content-type': 'application/xml' },
        body,
        accepts: [404, 500],
      });
      // The failure may come after the status.
      const { code } = parseS3Error(answer.body.toString());
      if (answer.status === 200 && code === '') return true;
      if (answer.status === 404 || code === 'NoSuchUpload') return false;
      // Ceph answers 500 for an upload that it has forgotten.
      if (!(await this.#parts(upload))) return false;
      throw new TransferError(`The server did not complete the upload of '${name}': ${code}`, { status: 500 });
    });
    if (isDone) return true;
    const { status, headers } = await this.#send({ method: 'HEAD', name, accepts: [404] });
    return status === 200 && headers[tagHeader] === tag;
  }

  async abort({ name, id }: Pick<Upload, 'name' | 'id'>): Promise<void> {
    await this.#send({ method: 'DELETE', name, query: { uploadId: id }, accepts: [404] });
  }

  /**
   * Aborts all uploads below the prefix whose names `isMeant` accepts: the programs that began them cannot complete
   * them any more.
   */
  async abortAll(isMeant: (name: string) => boolean = () => true): Promise<void> {
    for await (const upload of this.list()) if (isMeant(upload.name)) await this.abort(upload);
  }

  /** All uploads below the prefix that were neither completed nor aborted; `begunMs`: since 1970, 0 if unknown. */
  async *list(): AsyncGenerator<Pick<Upload, 'name' | 'id'> & { begunMs: number }, void, undefined> {
    const { parseUploads } = await import('../s3/s3-xml.ts');
    for (let marker: Record<string, string> | undefined = {}; marker; ) {
      const query = { uploads: '', prefix: this.#prefix, ...marker };
      const { body } = await send({ method: 'GET', bucket: this.#bucket, key: '', query }, this.#limits);
      const page = parseUploads(body.toString());
      for (const { key, ...upload } of page.uploads) {
        if (key.startsWith(this.#prefix)) yield { name: key.slice(this.#prefix.length), ...upload };
      }
      marker = page.next;
    }
  }

  /** The parts that are there, by number from 1 on; undefined if the store has forgotten the upload. */
  async #parts({ name, id }: Upload): Promise<Map<number, { etag: string; sizeBytes: number }> | undefined> {
    const { parseParts } = await import('../s3/s3-xml.ts');
    const parts = new Map<number, { etag: string; sizeBytes: number }>();
    for (let marker: string | undefined = ''; marker !== undefined; ) {
      const query = { uploadId: id, ...(marker && { 'part-number-marker': marker }) };
      const { status, body } = await this.#send({ method: 'GET', name, query, accepts: [404] });
      if (status === 404) return undefined;
      const page = parseParts(body.toString());
      for (const { number, ...part } of page.parts) parts.set(number, part);
      marker = page.next;
    }
    return parts;
  }

  async #sendPart({ name, id }: Upload, index: number, body: Uint8Array): Promise<string> {
    const query = { partNumber: String(index + 1), uploadId: id };
    const { headers } = await this.#send({ method: 'PUT', name, query, body });
    if (!headers.etag) throw new TransferError(`The server gives no ETag for a part of '${name}'`);
    return headers.etag;
  }

  #send({ name, ...request }: Omit<StoreRequest, 'bucket' | 'key'> & { name: string }): Promise<StoreAnswer> {
    return send({ ...request, bucket: this.#bucket, key: this.#prefix + name }, this.#limits);
  }
}

async function readPart(file: FileHandle, position: number, length: number): Promise<Uint8Array> {
  const bytes = Buffer.allocUnsafe(length);
  for (let at = 0; at < length; ) {
    const { bytesRead } = await file.read(bytes, at, length - at, position + at);
    if (bytesRead === 0) throw new Error(`The file ends at byte ${position + at} while it is sent`);
    at += bytesRead;
  }
  return bytes;
}

const escaped = (text: string): string => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

const contentTypes: Record<string, string> = {
  json: 'application/json',
  jsonl: 'application/x-ndjson',
  svg: 'image/svg+xml',
  png: 'image/png',
  tif: 'image/tiff',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  dzi: 'application/xml',
  parquet: 'application/vnd.apache.parquet',
};

/** What browsers make of an object, by the end of its name. */
const contentType = (name: string): string =>
  contentTypes[/\.([a-z]+)$/.exec(name)?.[1] ?? ''] ?? 'application/octet-stream';
