import { type ArrayForm, beside, chunkKey, InputError, readIfThere } from '@halogrid/sources';
import { OpenShards } from './open-shards.ts';

/** How many bytes a chunk may take in its file: codecs add little to what they cannot compress. */
const mostEncoded = (bytes: number): number => bytes + Math.ceil(bytes / 8) + 2 ** 16;

/** Reads the bytes of an array's chunks, each from a file of its own or from its place in a shard. */
export class ChunkFiles {
  readonly #metadataUri: string;
  readonly #form: ArrayForm;
  readonly #mostBytes: number;
  readonly #shards: OpenShards | undefined;
  #bytesRead = 0;

  /** `chunkBytes`: of a decoded chunk. */
  constructor(metadataUri: string, form: ArrayForm, chunkBytes: number) {
    this.#metadataUri = metadataUri;
    this.#form = form;
    this.#mostBytes = mostEncoded(chunkBytes);
    if (form.shard) this.#shards = new OpenShards(form, form.shard, this.#mostBytes);
  }

  get bytesRead(): number {
    return this.#bytesRead;
  }

  /** The bytes of the chunk at these coordinates; undefined if it is missing. Rejects with InputError. */
  async read(coordinates: readonly number[]): Promise<Uint8Array | undefined> {
    const { shard, chunk } = this.#form;
    const file = shard ? coordinates.map((at, i) => Math.floor((at * chunk[i]!) / shard.shape[i]!)) : coordinates;
    const key = chunkKey(this.#form, file);
    try {
      const uri = beside(this.#metadataUri, key);
      const bytes = this.#shards ? await this.#shards.read(uri, coordinates) : await readIfThere(uri, this.#mostBytes);
      this.#bytesRead += bytes?.length ?? 0;
      return bytes;
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      const { stage, fault, message } = error;
      throw new InputError(
        stage,
        `The chunk '${key}' cannot be read: ${message[0]!.toLowerCase()}${message.slice(1)}`,
        { fault },
      );
    }
  }

  /** Call it after the last read has settled. */
  async close(): Promise<void> {
    await this.#shards?.close();
  }
}
