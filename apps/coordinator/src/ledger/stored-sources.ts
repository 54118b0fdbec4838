import type { PackedFrames } from '../job/shard.ts';
import type { SpoolReader } from './stored-frames.ts';

/** Where a block of sources lies in a file. */
export interface BlockPlace {
  offset: number;
  length: number;
}

/** What is known of packed frames without their block. */
export type FramesOutline = Omit<PackedFrames, 'kind' | 'block'>;

/** Packed frames whose block lies in a file, from which it is read each time. */
export class StoredSources implements PackedFrames {
  readonly kind = 'packed';
  readonly first: number;
  readonly count: number;
  readonly isPinned: boolean;
  readonly uri: string;
  readonly folders: readonly string[];
  readonly hasPreviews: boolean;
  readonly place: BlockPlace;
  readonly #spool: SpoolReader;

  constructor(
    { first, count, isPinned, uri, folders, hasPreviews }: FramesOutline,
    place: BlockPlace,
    spool: SpoolReader,
  ) {
    this.first = first;
    this.count = count;
    this.isPinned = isPinned;
    this.uri = uri;
    this.folders = folders;
    this.hasPreviews = hasPreviews;
    this.place = place;
    this.#spool = spool;
  }

  /** Waits for the disk. Throws where the file has fewer bytes; whether they are what was written is for their reader to see. */
  get block(): Uint8Array {
    return this.#spool.read(this.place.offset, this.place.length);
  }
}
