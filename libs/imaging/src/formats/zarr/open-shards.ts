import { type ArrayForm, crc32c, InputError, type InputFile, openIfThere, type ShardForm } from '@halogrid/sources';

/** The most shards that an image keeps open: a row of tiles touches as many again and again. */
const mostOpen = 8;

const entryBytes = 16;
const checksumBytes = 4;
/** Offset and length of a chunk that a shard does not have. */
const absent = 2n ** 64n - 1n;

interface OpenShard {
  file: InputFile;
  index: DataView;
}

interface Entry {
  shard: Promise<OpenShard | undefined>;
  users: number;
}

/** Shards that are open, the one that was used longest ago first, each with its index. */
export class OpenShards {
  readonly #perShard: readonly number[];
  readonly #shard: ShardForm;
  readonly #mostBytes: number;
  readonly #entries = new Map<string, Entry>();

  /** `mostBytes`: of a chunk in a shard. */
  constructor({ chunk }: ArrayForm, shard: ShardForm, mostBytes: number) {
    this.#perShard = shard.shape.map((size, i) => size / chunk[i]!);
    this.#shard = shard;
    this.#mostBytes = mostBytes;
  }

  /** The bytes of a chunk of the shard at a URI; undefined if either is missing. Rejects with InputError. */
  async read(uri: string, coordinates: readonly number[]): Promise<Uint8Array | undefined> {
    const entry = this.#entries.get(uri) ?? { shard: this.#open(uri), users: 0 };
    this.#entries.delete(uri);
    this.#entries.set(uri, entry);
    entry.users++;
    try {
      const shard = await entry.shard;
      return shard && (await this.#readChunk(shard, coordinates));
    } finally {
      entry.users--;
      await this.#closeSome(mostOpen);
    }
  }

  async close(): Promise<void> {
    await this.#closeSome(0);
  }

  async #closeSome(most: number): Promise<void> {
    for (const [uri, { shard, users }] of this.#entries) {
      if (this.#entries.size <= most) return;
      if (users > 0) continue;
      this.#entries.delete(uri);
      await shard.then(
        (open) => open?.file.close(),
        () => {},
      );
    }
  }

  async #open(uri: string): Promise<OpenShard | undefined> {
    const file = await openIfThere(uri);
    if (!file) return undefined;
    try {
      return { file, index: await this.#readIndex(file) };
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  async #readIndex(file: InputFile): Promise<DataView> {
    const { hasChecksum, isIndexFirst } = this.#shard;
    const entriesBytes = entryBytes * this.#perShard.reduce((all, count) => all * count, 1);
    const length = entriesBytes + (hasChecksum ? checksumBytes : 0);
    if (file.sizeBytes < length) {
      throw new InputError('decode', `The shard has ${file.sizeBytes} bytes, and its index alone ${length}`);
    }
    const bytes = new Uint8Array(length);
    await file.read(bytes, isIndexFirst ? 0 : file.sizeBytes - length);
    const index = new DataView(bytes.buffer);
    if (hasChecksum && index.getUint32(entriesBytes, true) !== crc32c(bytes.subarray(0, entriesBytes))) {
      throw new InputError('decode', 'The index of the shard is damaged: its checksum is another one');
    }
    return index;
  }

  async #readChunk({ file, index }: OpenShard, coordinates: readonly number[]): Promise<Uint8Array | undefined> {
    const nth = coordinates.reduce((all, at, i) => all * this.#perShard[i]! + (at % this.#perShard[i]!), 0);
    const [offset, length] = [0, 8].map((at) => index.getBigUint64(entryBytes * nth + at, true)) as [bigint, bigint];
    if (offset === absent && length === absent) return undefined;
    if (length > BigInt(this.#mostBytes) || offset + length > BigInt(file.sizeBytes)) {
      throw new InputError(
        'decode',
        `The index of the shard names bytes ${offset} to ${offset + length} of ${file.sizeBytes}`,
      );
    }
    const bytes = new Uint8Array(Number(length));
    await file.read(bytes, Number(offset));
    return bytes;
  }
}
