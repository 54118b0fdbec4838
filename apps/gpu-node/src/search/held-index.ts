import type { SearchPart } from '@halogrid/proto';
import {
  type BlockPlace,
  blocksOfIndex,
  type Catalog,
  closeCatalog,
  type GpuScanOptions,
  type Hit,
  type IndexScan,
  indexVersion,
  openCatalog,
  ThreadScan,
  wantedOf,
} from '@halogrid/search';

/** Memory of the GPU that an index leaves to the shards of jobs: several times what two batches in flight need. */
const spareBytes = 2 ** 32;

export interface HeldIndexOptions {
  /** Loads blocks of an index into the node's device, if that is faster than threads. */
  loadPart?: ((catalog: Catalog, options: GpuScanOptions) => Promise<IndexScan>) | undefined;
  /** Logs a sentence. */
  note: (line: string) => void;
}

/** A part of the index in the memory of the device, or on its way there. */
interface LoadedPart {
  first: number;
  end: number;
  loading: Promise<void>;
  /** Undefined until the part is loaded, and if the device refused it. */
  scan: IndexScan | undefined;
}

/**
 * An open index on a node. Threads search its parts. If the node computes on a GPU, the requested part is loaded into
 * it meanwhile, and from then on the GPU searches it. So the first search does not wait for loading.
 */
export class HeldIndex {
  readonly #catalog: Catalog;
  readonly #options: HeldIndexOptions;
  readonly #blocks: readonly BlockPlace[];
  readonly #threads: ThreadScan;
  #loaded: LoadedPart | undefined;
  /** Resolves when the device has released the part before. */
  #unloaded: Promise<void> = Promise.resolve();

  /** Rejects with IndexError if the index is missing or damaged, and with one sentence if it is not of that version. */
  static async open(folder: string, version: string, options: HeldIndexOptions): Promise<HeldIndex> {
    const catalog = await openCatalog(folder);
    if (indexVersion(catalog) === version) return new HeldIndex(catalog, options);
    closeCatalog(catalog);
    throw new Error('The index there is another one, or another version of it');
  }

  private constructor(catalog: Catalog, options: HeldIndexOptions) {
    this.#catalog = catalog;
    this.#options = options;
    this.#blocks = blocksOfIndex(catalog);
    this.#threads = new ThreadScan(catalog);
  }

  /**
   * The best hits of the part for each query, in order, and the number of frames in the part. Rejects if the order
   * cannot be carried out.
   */
  async find(order: SearchPart): Promise<{ found: Hit[][]; frames: number }> {
    const { firstBlock: first, endBlock: end } = order;
    if (first >= end || end > this.#blocks.length)
      throw new Error(`Expected blocks of the ${this.#blocks.length} in the index but received ${first} to ${end}`);
    const wanted = wantedOf(order, this.#catalog.pipeline);
    const blocks = this.#blocks.slice(first, end);
    const frames = blocks.reduce((sum, block) => sum + block.frames, 0);
    const scan = this.#scanOf(first, end);
    const found = await (scan ? scan.find(wanted) : this.#threads.findIn(blocks, wanted));
    if (!this.#loaded) this.#load(first, end, blocks);
    return { found, frames };
  }

  async close(): Promise<void> {
    this.#unload();
    await this.#unloaded;
    await this.#threads.close();
    closeCatalog(this.#catalog);
  }

  /** The device's scan of exactly this part; another part is released. */
  #scanOf(first: number, end: number): IndexScan | undefined {
    const loaded = this.#loaded;
    if (loaded && (loaded.first !== first || loaded.end !== end)) this.#unload();
    return this.#loaded?.scan;
  }

  #load(first: number, end: number, blocks: readonly BlockPlace[]): void {
    const { loadPart, note } = this.#options;
    if (!loadPart) return;
    const loaded: LoadedPart = { first, end, loading: Promise.resolve(), scan: undefined };
    loaded.loading = this.#unloaded
      .then(() => loadPart(this.#catalog, { note, blocks, spareBytes }))
      .then(
        (scan) => {
          loaded.scan = scan;
        },
        (error: Error) => note(`${error.message}. Threads search the index instead.`),
      );
    this.#loaded = loaded;
  }

  #unload(): void {
    const loaded = this.#loaded;
    this.#loaded = undefined;
    if (loaded) this.#unloaded = loaded.loading.then(() => loaded.scan?.close());
  }
}
