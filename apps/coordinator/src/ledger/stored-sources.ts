import { SourceBlock } from '@halogrid/sources/source-block';
import type { PlannedSources } from '../job/planned-sources.ts';
import type { SpoolReader } from './stored-frames.ts';

/** Where a block of sources lies in a file. */
export interface BlockPlace {
  offset: number;
  length: number;
}

/** What is known of sources without their block. */
export type SourcesOutline = Omit<PlannedSources, 'block'>;

/** The sources of a job are not in its file any more: the job cannot go on. */
export class LostSourcesError extends Error {
  override name = 'LostSourcesError';

  constructor(path: string, cause: unknown) {
    super(`The sources in '${path}' are lost: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

/** Sources of a plan whose block lies in a file, from which it is read each time. */
export class StoredSources implements PlannedSources {
  readonly runs: Float64Array;
  readonly count: number;
  readonly uri: string;
  readonly folders: readonly string[];
  readonly hasPreviews: boolean;
  readonly isPlain: boolean;
  readonly place: BlockPlace;
  readonly #spool: SpoolReader;

  constructor(
    { runs, count, uri, folders, hasPreviews, isPlain }: SourcesOutline,
    place: BlockPlace,
    spool: SpoolReader,
  ) {
    this.runs = runs;
    this.count = count;
    this.uri = uri;
    this.folders = folders;
    this.hasPreviews = hasPreviews;
    this.isPlain = isPlain;
    this.place = place;
    this.#spool = spool;
  }

  /** Waits for the disk. Throws where the file has fewer bytes; whether they are what was written is for their reader to see. */
  get block(): Uint8Array {
    return this.#spool.read(this.place.offset, this.place.length);
  }

  /** Throws LostSourcesError where the block is not as it was written. */
  check(): void {
    try {
      new SourceBlock(this.block);
    } catch (error) {
      throw new LostSourcesError(this.#spool.path, error);
    }
  }
}
