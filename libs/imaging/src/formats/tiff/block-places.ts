import { type ByteRange, InputError, type InputFile } from '@halogrid/sources';
import { nameOfTag, tiffTags } from './tag-names.ts';
import type { TiffHeader } from './tiff-header.ts';
import type { TiffEntry, TiffReader } from './tiff-reader.ts';

/** A block in the file. */
export interface TiffBlock {
  /** Its name in messages: strip or tile, and its number in the file. */
  name: string;
  start: number;
  /** Undefined if the file does not say. */
  bytes: number | undefined;
}

/** A window of blocks, in rows and columns of blocks. */
export interface BlockWindow {
  top: number;
  left: number;
  rows: number;
  columns: number;
}

const lengthsAtOnce = 2 ** 16;

/** Finds the blocks of a page by tables that stay in the file. */
export class BlockPlaces {
  readonly columns: number;
  readonly rows: number;
  readonly #reader: TiffReader;
  readonly #offsets: TiffEntry;
  readonly #lengths: TiffEntry | undefined;
  readonly #kind: 'strip' | 'tile';
  #anyLength: Promise<boolean> | undefined;

  private constructor(reader: TiffReader, grid: { columns: number; rows: number }, tables: Tables) {
    this.columns = grid.columns;
    this.rows = grid.rows;
    this.#reader = reader;
    this.#offsets = tables.offsets;
    this.#lengths = tables.lengths;
    this.#kind = tables.kind;
  }

  /** Rejects with InputError if the file lists fewer blocks than `planes` planes need. */
  static async open(
    reader: TiffReader,
    entries: ReadonlyMap<number, TiffEntry>,
    { width, height, block }: TiffHeader,
    planes: number,
  ): Promise<BlockPlaces> {
    const [kind, offsetsTag, lengthsTag] = block.isTile
      ? (['tile', tiffTags.TileOffsets, tiffTags.TileByteCounts] as const)
      : (['strip', tiffTags.StripOffsets, tiffTags.StripByteCounts] as const);
    if (!(block.width > 0 && block.height > 0)) {
      throw new InputError('decode', `The TIFF is damaged: its ${kind}s have ${block.width}x${block.height} pixels`);
    }
    const offsets = entries.get(offsetsTag);
    if (!offsets)
      throw new InputError('decode', `The TIFF has no tag ${nameOfTag(offsetsTag)}, which every image needs`);
    const grid = { columns: Math.ceil(width / block.width), rows: Math.ceil(height / block.height) };
    const needed = grid.columns * grid.rows * planes;
    if (offsets.count < needed) {
      throw new InputError(
        'decode',
        `The TIFF is damaged: ${width}x${height} pixels in ${kind}s of ${block.width}x${block.height} make ${needed} ${kind}s but it lists ${offsets.count}`,
      );
    }
    // The last value of the table must be in the file, so the file is large enough for the size that it claims.
    await reader.integers(offsets, 1, needed - 1);
    return new BlockPlaces(reader, grid, { kind, offsets, lengths: entries.get(lengthsTag) });
  }

  /** The places of the blocks in a window of a plane, row by row; undefined for blocks that the file leaves out. */
  async of(plane: number, { top, left, rows, columns }: BlockWindow): Promise<(TiffBlock | undefined)[]> {
    // Whole rows of the table lie together.
    const [runs, length] = columns === this.columns ? [1, rows * columns] : [rows, columns];
    const places: (TiffBlock | undefined)[] = [];
    for (let run = 0; run < runs; run++) {
      const first = (plane * this.rows + top + run) * this.columns + left;
      const starts = await this.#reader.integers(this.#offsets, length, first);
      const lengths = this.#lengths ? await this.#reader.integers(this.#lengths, length, first) : [];
      if (this.#lengths && lengths.length < starts.length)
        await this.#reader.integers(this.#lengths, 1, first + length - 1);
      for (const [i, start] of starts.entries()) {
        const [name, bytes] = [`${this.#kind} ${first + i}`, lengths[i] || undefined];
        if (start > 0 && !bytes && (await this.#hasLengths())) {
          throw new InputError('decode', `The TIFF is damaged: its ${name} is at byte ${start} and has no bytes`);
        }
        places.push(start === 0 && !bytes ? undefined : { name, start, bytes });
      }
    }
    return places;
  }

  /** Whether the file states the length of any block; some programs write 0 for all. */
  #hasLengths(): Promise<boolean> {
    this.#anyLength ??= this.#findLength();
    return this.#anyLength;
  }

  async #findLength(): Promise<boolean> {
    const { count = 0 } = this.#lengths ?? {};
    for (let from = 0; from < count; from += lengthsAtOnce) {
      if ((await this.#reader.integers(this.#lengths!, lengthsAtOnce, from)).some((length) => length > 0)) return true;
    }
    return false;
  }
}

interface Tables {
  kind: 'strip' | 'tile';
  offsets: TiffEntry;
  lengths: TiffEntry | undefined;
}

/**
 * Fills `into` with the bytes of several places, one after another. Places that follow each other in the file are read
 * together. Rejects with InputError.
 */
export async function readPlaces(file: InputFile, places: readonly ByteRange[], into: Uint8Array): Promise<void> {
  let at = 0;
  for (let i = 0; i < places.length; ) {
    const { start } = places[i]!;
    let { end } = places[i]!;
    for (i++; i < places.length && places[i]!.start === end; i++) end = places[i]!.end;
    await file.read(into.subarray(at, at + end - start), start);
    at += end - start;
  }
}
