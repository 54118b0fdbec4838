import { bytes, columns, doubles, marks, steps, texts, uints } from './columns.ts';

export { BlockError } from './block-input.ts';

/** An input of a job in its plan: an image or a frame. */
export interface BlockSource {
  /** Number of the source in its job. */
  index: number;
  uri: string;
  /** The name of its files in the output, without extensions. */
  name: string;
  /** Encoded bytes; 0 if not known. */
  sizeBytes: number;
  /** A name for its file as it was listed; absent if not known. */
  version?: string;
  /**
   * The version that a node must read: the version of the file when it was planned. So the tiles of an image cannot be
   * of several versions. Absent: any version.
   */
  pin?: string;
  /** Whether a preview may be made of it, for which a node leaves chunks. */
  preview?: true;
  /** Which frame of its video it is; `timestampMs` is null if the container does not say. Absent for images. */
  video?: { frame: number; timestampMs: number | null };
  /** Where in a video it is found; absent for images. */
  place?: { packet: number; order?: number };
  /** Its size in pixels, if known, and the type of these; u8 if that is absent. */
  size?: { width: number; height: number; pixel?: (typeof blockPixels)[number] };
  /** The number of its results, if there are several. */
  tiles?: number;
  /** Name of its files in an earlier output, whose result is kept. */
  kept?: string;
  /**
   * Facts that an earlier output has about it for some pipelines of the job, as readKnown of libs/results reads them.
   */
  known?: Uint8Array;
  /** Its mask, and the version of it that a node must read; absent version: any. */
  mask?: { uri: string; version?: string };
  /** Why it cannot be processed. */
  error?: { stage: string; error: string };
}

/** The most sources of a block. */
export const maxBlockSources = 2 ** 16;

/** Types of pixels, by the number that stands for one. */
export const blockPixels = ['u8', 'u16'] as const;

/**
 * The columns of a block of sources. The version of most files is their size and a time, as JavaScript prints them:
 * then only the time is kept. `free`: nodes need not read the listed version; `pin`: they must read another one.
 */
export const sourceColumns = columns(
  { what: 'A block of sources', format: 3, maxRows: maxBlockSources, maxTextBytes: 2 ** 27 },
  { index: steps(), uri: texts(), name: texts(), sizeBytes: uints() },
  {
    time: doubles(),
    version: texts(),
    free: marks(),
    pin: texts(),
    preview: marks(),
    frame: steps(),
    timestampMs: doubles(),
    packet: steps(),
    order: steps(),
    width: uints(),
    height: uints(),
    pixel: uints(),
    tiles: uints(),
    kept: texts(),
    stage: texts(),
    error: texts(),
    known: bytes(),
  },
  { mask: texts(), maskVersion: texts() },
);

/**
 * The sources of a range of a plan, read from a block of bytes, which `packSources` makes and sourceColumns describes.
 */
export class SourceBlock {
  readonly #columns: ReturnType<(typeof sourceColumns)['read']>;

  /** Takes time by the number of sources. Throws BlockError. */
  constructor(block: Uint8Array) {
    this.#columns = sourceColumns.read(block);
  }

  get length(): number {
    return this.#columns.rows;
  }

  index(nth: number): number {
    return this.#columns.index.at(nth)!;
  }

  uri(nth: number): string {
    return this.#columns.uri.at(nth)!;
  }

  name(nth: number): string {
    return this.#columns.name.at(nth)!;
  }

  sizeBytes(nth: number): number {
    return this.#columns.sizeBytes.at(nth)!;
  }

  version(nth: number): string | undefined {
    const time = this.#columns.time.at(nth);
    return time === undefined ? this.#columns.version.at(nth) : `${this.sizeBytes(nth)} ${time}`;
  }

  pin(nth: number): string | undefined {
    return this.#columns.free.has(nth) ? undefined : (this.#columns.pin.at(nth) ?? this.version(nth));
  }

  hasPreview(nth: number): boolean {
    return this.#columns.preview.has(nth);
  }

  video(nth: number): BlockSource['video'] {
    const frame = this.#columns.frame.at(nth);
    return frame === undefined ? undefined : { frame, timestampMs: this.#columns.timestampMs.at(nth) ?? null };
  }

  place(nth: number): BlockSource['place'] {
    const packet = this.#columns.packet.at(nth);
    if (packet === undefined) return undefined;
    const order = this.#columns.order.at(nth);
    return order === undefined ? { packet } : { packet, order };
  }

  size(nth: number): BlockSource['size'] {
    const [width, height] = [this.#columns.width.at(nth), this.#columns.height.at(nth)];
    if (width === undefined || height === undefined) return undefined;
    const pixel = blockPixels[this.#columns.pixel.at(nth) ?? -1];
    return pixel === undefined ? { width, height } : { width, height, pixel };
  }

  tiles(nth: number): number {
    return this.#columns.tiles.at(nth) ?? 1;
  }

  kept(nth: number): string | undefined {
    return this.#columns.kept.at(nth);
  }

  known(nth: number): Uint8Array | undefined {
    return this.#columns.known.at(nth);
  }

  mask(nth: number): BlockSource['mask'] {
    const uri = this.#columns.mask.at(nth);
    if (uri === undefined) return undefined;
    const version = this.#columns.maskVersion.at(nth);
    return version === undefined ? { uri } : { uri, version };
  }

  error(nth: number): BlockSource['error'] {
    const error = this.#columns.error.at(nth);
    return error === undefined ? undefined : { stage: this.#columns.stage.at(nth) ?? '', error };
  }

  /** The source at that place in the block, from 0. */
  get(nth: number): BlockSource {
    const source: BlockSource = {
      index: this.index(nth),
      uri: this.uri(nth),
      name: this.name(nth),
      sizeBytes: this.sizeBytes(nth),
    };
    const more: Partial<BlockSource> = {
      version: this.version(nth),
      pin: this.pin(nth),
      preview: this.hasPreview(nth) || undefined,
      video: this.video(nth),
      place: this.place(nth),
      size: this.size(nth),
      tiles: this.#columns.tiles.at(nth),
      kept: this.kept(nth),
      known: this.known(nth),
      mask: this.mask(nth),
      error: this.error(nth),
    };
    return Object.assign(source, Object.fromEntries(Object.entries(more).filter(([, value]) => value !== undefined)));
  }

  *[Symbol.iterator](): Generator<BlockSource, void, undefined> {
    for (let nth = 0; nth < this.length; nth++) yield this.get(nth);
  }
}
