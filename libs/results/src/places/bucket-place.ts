import type { BucketPrefix } from '@halogrid/sources';
import { type Place, type PlacedFile, type PlaceEntry, PlaceError, type StoredFile } from './place.ts';

/** A place in a bucket. */
export class BucketPlace implements Place {
  readonly #bucket: string;
  /** Without a '/' at its end; empty for the whole bucket. */
  readonly #key: string;

  constructor(bucket: string, key: string) {
    this.#bucket = bucket;
    this.#key = key;
  }

  get at(): string {
    return this.#key === '' ? `s3://${this.#bucket}` : `s3://${this.#bucket}/${this.#key}`;
  }

  get uri(): string {
    return this.at;
  }

  in(...names: string[]): BucketPlace {
    return new BucketPlace(this.#bucket, [this.#key, ...names].filter((name) => name !== '').join('/'));
  }

  async file(): Promise<StoredFile | undefined> {
    const key = this.#key;
    if (key === '') return undefined;
    const bucket = await this.#open();
    const found = await told(bucket.head(key));
    if (!found) return undefined;
    const { sizeBytes, etag } = found;
    return {
      sizeBytes,
      version: etag,
      read: async (start, end) => {
        const last = Math.min(end, sizeBytes);
        // An empty object has no range.
        return start < last ? Buffer.from(await told(bucket.slice(key, start, last, etag))) : Buffer.alloc(0);
      },
      stream: (start = 0, end = sizeBytes) => toldEach(bucket.read(key, start, end)),
    };
  }

  async entries(): Promise<PlaceEntry[] | undefined> {
    const folder = this.#folder;
    const entries: PlaceEntry[] = [];
    for await (const name of toldEach((await this.#open()).listLevel(folder))) {
      const own = name.slice(folder.length);
      if (own !== '') entries.push({ name: own.replace(/\/$/, ''), isFolder: own.endsWith('/') });
    }
    return entries.length > 0 ? entries : undefined;
  }

  async *files(isWanted: (entry: string) => boolean = () => true): AsyncGenerator<PlacedFile> {
    const folder = this.#folder;
    for await (const { name, sizeBytes } of toldEach((await this.#open()).list(folder))) {
      const own = name.slice(folder.length);
      // Some programs mark a folder by an object whose name ends with '/'.
      if (!own.endsWith('/') && own !== '' && isWanted(own.split('/', 1)[0]!)) yield { name: own, sizeBytes };
    }
  }

  get #folder(): string {
    return this.#key && `${this.#key}/`;
  }

  /** The client is loaded when it is needed: most outputs are in folders. */
  async #open(): Promise<BucketPrefix> {
    const { BucketPrefix } = await import('@halogrid/sources/bucket-prefix');
    return new BucketPrefix(`s3://${this.#bucket}`);
  }
}

async function told<Answer>(asking: Promise<Answer>): Promise<Answer> {
  try {
    return await asking;
  } catch (error) {
    throw asPlaceError(error);
  }
}

async function* toldEach<Item>(items: AsyncIterable<Item>): AsyncGenerator<Item, void, undefined> {
  try {
    yield* items;
  } catch (error) {
    throw asPlaceError(error);
  }
}

/** What goes wrong with requests and credentials is told as it is; faults of this program stay what they are. */
function asPlaceError(error: unknown): unknown {
  const isTold = error instanceof Error && ['TransferError', 'InputError', 'SourceUriError'].includes(error.name);
  return isTold ? new PlaceError(error.message, error) : error;
}
