import { randomUUID } from 'node:crypto';
import { RemoteFile } from '../remote/remote-file.ts';
import type { RemoteLimits } from '../remote/remote-limits.ts';
import { TransferError } from '../remote/transfer-error.ts';
import { type Listed, listPages } from './list-page.ts';
import { toPrefixUri } from './prefix-uri.ts';
import { type StoreAnswer, type StoreRequest, send, storeLimits } from './send.ts';
import { tagHeader, Uploads } from './uploads.ts';

/** The most bytes of an object in memory; they come by several requests at once. */
const pieceBytes = 2 ** 25;

export interface ListedObject {
  /** Below the prefix. */
  name: string;
  sizeBytes: number;
  /** When it was written, in milliseconds since 1970, if the list says so. */
  changedMs?: number;
}

/** The objects of a bucket whose keys begin with a prefix, which ends them like a folder. Names are below it. */
export class BucketPrefix {
  readonly uri: string;
  readonly bucket: string;
  /** Empty, or ends with '/'. */
  readonly prefix: string;
  readonly uploads: Uploads;

  readonly #limits: RemoteLimits;

  /** Throws SourceUriError as toPrefixUri does. */
  constructor(uri: string, limits: RemoteLimits = storeLimits) {
    this.#limits = limits;
    this.uri = toPrefixUri(uri);
    const [, bucket = '', path = ''] = /^s3:\/\/([^/]+)(?:\/(.+))?$/s.exec(this.uri)!;
    this.bucket = bucket;
    this.prefix = path && `${path}/`;
    this.uploads = new Uploads(bucket, this.prefix, limits);
  }

  uriOf(name: string): string {
    return `s3://${this.bucket}/${this.prefix}${name}`;
  }

  /** An object that fits into memory; undefined if it is missing. */
  async get(name: string): Promise<Buffer | undefined> {
    const { status, body } = await this.#send({ method: 'GET', name, accepts: [404] });
    return status === 404 ? undefined : body;
  }

  /**
   * The bytes of an object from `start` to `end`, or to its end. Rejects if it is missing or, if `etag` is given, has
   * another one by now.
   */
  async slice(name: string, start: number, end: number, etag = ''): Promise<Buffer> {
    const { status, body } = await this.#send({
      method: 'GET',
      name,
      headers: { range: `bytes=${start}-${end - 1}`, ...(etag && { 'if-match': `"${etag}"` }) },
      accepts: [412, 416],
    });
    if (status === 412) throw new TransferError(`'${this.uriOf(name)}' was replaced while it was read`);
    return status === 416 ? Buffer.alloc(0) : status === 200 ? body.subarray(start, end) : body;
  }

  /** The bytes of an object from `start` to `end`, by ranges of one version of it. A missing one has none. */
  async *read(name: string, start = 0, end = Number.POSITIVE_INFINITY): AsyncGenerator<Buffer, void, undefined> {
    const { sizeBytes = 0 } = (await this.head(name)) ?? {};
    // An empty object has no range.
    if (sizeBytes === 0) return;
    const file = await RemoteFile.open(this.uriOf(name));
    try {
      const last = Math.min(end, file.sizeBytes);
      for (let at = start; at < last; at += pieceBytes) {
        const piece = Buffer.allocUnsafe(Math.min(pieceBytes, last - at));
        await file.read(piece, at);
        yield piece;
      }
    } finally {
      await file.close();
    }
  }

  /**
   * The bytes of an object that was listed with this size: of a small one by a single request. A missing one has none.
   */
  async *readListed({ name, sizeBytes }: ListedObject): AsyncGenerator<Buffer, void, undefined> {
    if (sizeBytes > pieceBytes) return yield* this.read(name);
    const bytes = await this.get(name);
    if (bytes) yield bytes;
  }

  /** What an object is, without its bytes; undefined if it is missing. */
  async head(name: string): Promise<{ sizeBytes: number; etag: string; tag: string | undefined } | undefined> {
    const { status, headers } = await this.#send({ method: 'HEAD', name, accepts: [404] });
    if (status === 404) return undefined;
    const etag = (headers.etag ?? '').replaceAll('"', '');
    return { sizeBytes: Number(headers['content-length']), etag, tag: headers[tagHeader]?.toString() };
  }

  /** Writes an object, or replaces it. */
  async put(name: string, body: Uint8Array): Promise<void> {
    await this.#send({ method: 'PUT', name, body });
  }

  /**
   * Writes an object unless there is one. Returns false if there is one of another content. If several programs do this
   * at once, one gets true, unless the server does not know the condition (see createsOnce).
   */
  async create(name: string, body: Uint8Array): Promise<boolean> {
    const there = await this.get(name);
    if (there) return Buffer.compare(there, body) === 0;
    const headers = { 'if-none-match': '*' };
    // 409: another program creates it at this moment. 501: the server refuses the condition.
    const { status } = await this.#send({ method: 'PUT', name, headers, body, accepts: [409, 412, 501] });
    if (status === 409) return await this.create(name, body);
    if (status === 501) await this.put(name, body);
    if (status !== 412) return true;
    // A repeated request meets the object that it wrote the first time.
    const winner = await this.get(name);
    return winner !== undefined && Buffer.compare(winner, body) === 0;
  }

  /** Removes an object, or nothing. */
  async remove(name: string): Promise<void> {
    await this.#send({ method: 'DELETE', name, accepts: [404] });
  }

  /** The names below `folder`, which is empty or ends with '/'. A store may list new objects late. */
  async *list(folder = ''): AsyncGenerator<ListedObject, void, undefined> {
    for await (const { objects } of listPages(this.#listed(folder))) {
      for (const { key, sizeBytes, changedMs } of objects) {
        yield { name: key.slice(this.prefix.length), sizeBytes, ...(changedMs && { changedMs }) };
      }
    }
  }

  /** The names directly in `folder`; names of folders end with '/'. */
  async *listLevel(folder = ''): AsyncGenerator<string, void, undefined> {
    for await (const { objects, folders } of listPages({ ...this.#listed(folder), delimiter: '/' })) {
      for (const key of [...objects.map((one) => one.key), ...folders]) yield key.slice(this.prefix.length);
    }
  }

  /**
   * Whether of several programs that create an object only one succeeds, tried with an object that is removed again. A
   * server that knows no conditions answers each of them with 200.
   */
  async createsOnce(): Promise<boolean> {
    const name = `.halogrid/try-${randomUUID()}`;
    const once = { method: 'PUT', name, headers: { 'if-none-match': '*' } } as const;
    try {
      const first = await this.#send({ ...once, body: Buffer.from('1'), accepts: [409, 412, 501] });
      if (first.status === 501) return false;
      // A repeated request meets the object that it wrote the first time.
      if (first.status !== 200) return true;
      const second = await this.#send({ ...once, body: Buffer.from('2'), accepts: [409, 412] });
      return second.status !== 200;
    } finally {
      await this.remove(name);
    }
  }

  #listed(folder: string): Listed {
    return { scheme: 's3', bucket: this.bucket, prefix: this.prefix + folder };
  }

  #send({ name, ...request }: Omit<StoreRequest, 'bucket' | 'key'> & { name: string }): Promise<StoreAnswer> {
    return send({ ...request, bucket: this.bucket, key: this.prefix + name }, this.#limits);
  }
}
