import { mostEntries } from '../frame/entry.ts';
import { type JpegFrame, lumaBlocks } from '../frame/jpeg-frame.ts';
import { chunkBytes, chunkWords, groupBlocks, groupChunks } from '../frame/passes.ts';
import { packQuantisers, packTable } from './pack-tables.ts';

/** A file of a batch. */
export interface JpegFile {
  frame: JpegFrame;
  /** The offset of the file in the buffer of all files, and its number of bytes. */
  offset: number;
  bytes: number;
  /**
   * The place of its luma: the byte of the first pixel, and the bytes from row to row; both multiples of 8. Rows are
   * written up to the end of their last 8 pixels. If absent, `placePlane` must set it before the batch is decoded.
   */
  plane?: JpegPlane;
}

export interface JpegPlane {
  offset: number;
  stride: number;
}

/** The places of everything in a batch, and the sizes of its dispatches. */
export interface JpegBatchLayout {
  /** The content of the buffer `files`. */
  files: Uint32Array<ArrayBuffer>;
  /** The content of the buffer `tables`. */
  tables: Uint32Array<ArrayBuffer>;
  /** Equal for equal tables, and only for these. */
  tablesName: string;
  fileCount: number;
  /** Groups of chunks, of all files and of the largest file. */
  groups: number;
  mostGroups: number;
  /** Whether some files use the data of others. */
  sharesData: boolean;
  /** Groups of blocks of the largest file. */
  mostBlockGroups: number;
  /** Bytes of the buffers that hold data between two passes. */
  scratch: Readonly<Record<ScratchName, number>>;
}

export type ScratchName = 'words' | 'chunks' | 'decoded' | 'groups' | 'entries' | 'found';

/** Words per file in `files`, and bytes per element of the other buffers: as in common.wgsl. */
export const fileWords = 28;
/** The index of the plane among these words; the size of the image follows it. */
const planeWord = 20;
const markedBytes = 16;
const decodedBytes = 32;
const groupBytes = 48;

/**
 * Lays out a batch of files. `dataFiles`: for each file the index of the file whose data it uses, itself or an earlier
 * one if it is another component of that. Default: each file uses its own data.
 */
export function layOutJpegs(batch: readonly JpegFile[], dataFiles: readonly number[] = []): JpegBatchLayout {
  const files = new Uint32Array(Math.max(1, batch.length) * fileWords);
  const tables = new Tables();
  let groups = 0;
  let entryWords = 0;
  let mostGroups = 0;
  let mostBlockGroups = 0;
  for (const [i, { frame, offset, bytes, plane }] of batch.entries()) {
    const dataBytes = bytes - frame.dataStart;
    const chunks = Math.ceil(dataBytes / chunkBytes);
    const ownGroups = Math.ceil(chunks / groupChunks);
    const luma = lumaBlocks(frame);
    const entries = mostEntries(dataBytes, luma);
    const blockGroups = Math.ceil(luma / groupBlocks);
    const [firstTable, quantisers] = tables.add(frame);
    const record = [
      ...[offset + frame.dataStart, dataBytes, chunks, groups, ownGroups],
      ...[frame.blocks, frame.restartBlocks, frame.mcuBlocks, frame.lumaAcross, frame.lumaDown, frame.mcusAcross],
      ...[firstTable, frame.tables.length, twoBitsEach(frame.dcTables), twoBitsEach(frame.acTables), quantisers],
      ...[entryWords, entries, entryWords + entries, blockGroups],
      ...[0, 0, frame.width, frame.height],
      ...[frame.lumaFirst, frame.skippedMcus, frame.firstRestart, dataFiles[i] ?? i],
    ];
    files.set(record, i * fileWords);
    if (plane) writePlane(files, i, plane);
    groups += ownGroups;
    entryWords += entries + blockGroups + 1;
    mostGroups = Math.max(mostGroups, ownGroups);
    mostBlockGroups = Math.max(mostBlockGroups, blockGroups);
  }
  const chunks = groups * groupChunks;
  const sharesData = dataFiles.some((file, i) => file !== i);
  return {
    files,
    tables: tables.words(),
    tablesName: tables.name,
    fileCount: batch.length,
    groups,
    mostGroups,
    mostBlockGroups,
    sharesData,
    scratch: {
      words: 4 * chunkWords * chunks,
      chunks: markedBytes * chunks,
      decoded: decodedBytes * chunks,
      groups: groupBytes * groups,
      entries: 4 * entryWords,
      found: 8 * batch.length,
    },
  };
}

/** Sets the place of a file's plane, by the file's index in the batch. Throws RangeError. */
export const placePlane = ({ files }: JpegBatchLayout, file: number, plane: JpegPlane): void =>
  writePlane(files, file, plane);

function writePlane(files: Uint32Array, file: number, { offset, stride }: JpegPlane): void {
  const at = file * fileWords + planeWord;
  const width = files[at + 2]!;
  if (offset % 8 !== 0 || stride % 8 !== 0 || stride < width) {
    throw new RangeError(
      `A plane at byte ${offset} with rows of ${stride} bytes for ${width} pixels: not in words of 8`,
    );
  }
  files[at] = offset / 8;
  files[at + 1] = stride / 8;
}

/** Packs numbers of tables, two bits each, the first in the lowest bits: at most ten blocks. */
const twoBitsEach = (tables: readonly number[]): number => tables.reduce((sum, table, i) => sum + table * 4 ** i, 0);

/** By frame: frames of known headers live longer than a batch. */
const knownNames = new WeakMap<JpegFrame, { tables: string; quantisers: string }>();

function namesOf(frame: JpegFrame): { tables: string; quantisers: string } {
  const known = knownNames.get(frame);
  if (known) return known;
  const { buffer, byteOffset, byteLength } = frame.quantisers;
  const names = {
    tables: frame.tables.map(({ name }) => name).join(),
    quantisers: Buffer.from(buffer, byteOffset, byteLength).toString('latin1'),
  };
  knownNames.set(frame, names);
  return names;
}

/** Tables of a batch: files with the same header share theirs. */
class Tables {
  readonly #parts: Uint32Array[] = [];
  readonly #frames = new Map<JpegFrame, [number, number]>();
  readonly #places = new Map<string, number>();
  #words = 0;

  /** The first word of its Huffman tables, and of its quantisers. */
  add(frame: JpegFrame): [number, number] {
    const present = this.#frames.get(frame);
    if (present) return present;
    const tables = () => frame.tables.map(packTable);
    const quantisers = () => [packQuantisers(frame.quantisers)];
    const names = namesOf(frame);
    const places: [number, number] = [this.#place(names.tables, tables), this.#place(names.quantisers, quantisers)];
    this.#frames.set(frame, places);
    return places;
  }

  /** Names the tables by their content, in order. */
  get name(): string {
    return [...this.#places.keys()].join('/');
  }

  words(): Uint32Array<ArrayBuffer> {
    const all = new Uint32Array(Math.max(1, this.#words));
    let at = 0;
    for (const part of this.#parts) {
      all.set(part, at);
      at += part.length;
    }
    return all;
  }

  #place(name: string, pack: () => readonly Uint32Array[]): number {
    const present = this.#places.get(name);
    if (present !== undefined) return present;
    const place = this.#words;
    this.#places.set(name, place);
    for (const part of pack()) {
      this.#parts.push(part);
      this.#words += part.length;
    }
    return place;
  }
}
