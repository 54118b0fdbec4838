import { type ByteRange, giveBackBytes, InputError, type InputFile, takeBytes } from '@halogrid/sources';
import { settleAll } from '@halogrid/threads';
import { decodeBlock } from '../jp2/decode-block.ts';
import { readPlaces, type TiffBlock } from './block-places.ts';
import { type BlockTiff, decodeBlockTiff, makeBlockTiff } from './block-tiff.ts';
import { inflateDeflate } from './inflate-deflate.ts';
import { inflateLerc, type LercPacking } from './inflate-lerc.ts';
import { inflateZstd } from './inflate-zstd.ts';
import { type JpegFrameHeader, jpegFrame } from './jpeg-frame.ts';
import type { StoredRows } from './stored-rows.ts';
import { tiffTags } from './tag-names.ts';
import { deflate, jp2Ycbcr, jpeg, type TiffLayout, ycbcr } from './tiff-layout.ts';

/** What is needed to decode blocks, besides their bytes. */
export interface BlockCoding {
  layout: TiffLayout;
  compression: number;
  photometric: number;
  /** For fax: T4Options or T6Options. */
  faxOptions: readonly (readonly [tag: number, values: readonly number[]])[];
  jpegTables: Uint8Array | undefined;
  /** For LERC: how its blobs are compressed once more. */
  lercPacking: LercPacking;
}

/** The most bytes of one compressed block, and of several that are decoded together. */
const maxBlockBytes = 2 ** 30;
const maxTogetherBytes = 2 ** 26;

/** The most bytes of a row that libvips decodes. */
const maxLineBytes = 2 ** 24;

/** A compressed block has at most twice the bytes of its pixels, plus this, as for the tables of a JPEG. */
const besidePixels = 2 ** 20;
const mostPacked = (pixelBytes: number): number => 2 * pixelBytes + besidePixels;

interface StoredBlock {
  place: TiffBlock;
  /** Its number of stored rows. */
  rows: number;
}

/** Reads the rows of blocks of any supported compression. */
export class RowReader {
  readonly #file: InputFile;
  readonly #coding: BlockCoding;
  readonly #stored: StoredRows;

  constructor(file: InputFile, coding: BlockCoding, stored: StoredRows) {
    this.#file = file;
    this.#coding = coding;
    this.#stored = stored;
  }

  /** Whether several blocks take no less time together than one by one. */
  get isOneByOne(): boolean {
    const { layout, compression } = this.#coding;
    return layout.coding === 'zstd' || layout.coding === 'lerc' || deflate.includes(compression);
  }

  /**
   * The bytes of a block of `rows` stored rows: as many as its pixels can need, or fewer if the file says so. Throws
   * InputError if they are not in the file.
   */
  rangeOf({ name, start, bytes }: TiffBlock, rows: number): ByteRange {
    const { sizeBytes } = this.#file;
    const pixelBytes = rows * this.#stored.rowBytes;
    const isStored = this.#coding.layout.coding === 'stored';
    if (isStored && bytes !== undefined && bytes < pixelBytes) {
      throw new InputError(
        'decode',
        `The TIFF is damaged: its ${name} has ${bytes} bytes where its pixels take ${pixelBytes}`,
      );
    }
    const end = start + (isStored ? pixelBytes : Math.min(bytes ?? sizeBytes - start, mostPacked(pixelBytes)));
    if (end <= sizeBytes && start < sizeBytes) return { start, end };
    throw new InputError(
      'decode',
      `The TIFF is cut off or damaged: its ${name} begins at byte ${start} and ends at byte ${Math.max(start, end)}, and the file at byte ${sizeBytes}`,
    );
  }

  /**
   * The stored rows of blocks, one after another, or a part of the rows of a single block, in memory of their own.
   * Rejects with InputError, which names the block.
   */
  async read(blocks: readonly StoredBlock[], part?: readonly [from: number, to: number]): Promise<Uint8Array> {
    const ranges = blocks.map(({ place, rows }) => this.rangeOf(place, rows));
    const { coding, isReversed } = this.#coding.layout;
    if (coding === 'zstd' || coding === 'lerc') return await this.#inflate(blocks, ranges, part);
    if (coding === 'jp2') return await this.#decodeJp2(blocks, ranges, part);
    if (coding !== 'stored') return await this.#decode(blocks, ranges, part);
    const { rowBytes } = this.#stored;
    const parts = part ? ranges.map(({ start }) => partOf(start, rowBytes, part)) : ranges;
    const bytes = new Uint8Array(parts.reduce((sum, { start, end }) => sum + end - start, 0));
    await readPlaces(this.#file, parts, bytes);
    if (isReversed) reverseBits(bytes);
    return bytes;
  }

  async #inflate(
    blocks: readonly StoredBlock[],
    ranges: readonly ByteRange[],
    part: readonly [from: number, to: number] | undefined,
  ): Promise<Uint8Array> {
    if (blocks.length > 1) return await this.#readEach(blocks);
    const [{ place, rows }, { start, end }] = [blocks[0]!, ranges[0]!];
    const { rowBytes } = this.#stored;
    const bytes = new Uint8Array(end - start);
    await this.#file.read(bytes, start);
    if (this.#coding.layout.isReversed) reverseBits(bytes);
    const all = await this.#unpack(bytes, rows, place.name);
    return part ? all.subarray(part[0] * rowBytes, part[1] * rowBytes) : all;
  }

  /** Undefined for blocks of other methods, and for those that libvips must decide on. */
  async #inflateDeflate(
    bytes: Uint8Array,
    rows: number,
    [from, to]: readonly [number, number] = [0, rows],
  ): Promise<Uint8Array | undefined> {
    if (!deflate.includes(this.#coding.compression)) return undefined;
    const { rowBytes } = this.#stored;
    return (await inflateDeflate(bytes, rows * rowBytes, to * rowBytes))?.subarray(from * rowBytes);
  }

  async #decodeJp2(
    blocks: readonly StoredBlock[],
    ranges: readonly ByteRange[],
    part: readonly [from: number, to: number] | undefined,
  ): Promise<Uint8Array> {
    const { layout } = this.#coding;
    const { rowBytes, width, bits, samples } = this.#stored;
    const decoded = blocks.map(async ({ place, rows }, i) => {
      const { start, end } = ranges[i]!;
      const bytes = Buffer.allocUnsafe(end - start);
      await this.#file.read(bytes, start);
      if (layout.isReversed) reverseBits(bytes);
      const isYcbcr = this.#coding.compression === jp2Ycbcr;
      const form = { width, height: rows, bits, isSigned: layout.kind === 'signed', components: samples, isYcbcr };
      return await decodeBlock(bytes, form, place.name);
    });
    const all = await settleAll(decoded);
    if (part) return all[0]!.subarray(part[0] * rowBytes, part[1] * rowBytes);
    return all.length === 1 ? all[0]! : Buffer.concat(all);
  }

  async #unpack(bytes: Uint8Array, rows: number, name: string): Promise<Uint8Array> {
    const { layout, lercPacking: packing } = this.#coding;
    const length = rows * this.#stored.rowBytes;
    if (layout.coding === 'zstd') return await inflateZstd(bytes, length, name);
    const { width, bits, samples } = this.#stored;
    const block = { width, height: rows, bits, samples, kind: layout.kind };
    return await inflateLerc(bytes, block, { name, packing, mostPacked: mostPacked(length) });
  }

  async #decode(
    blocks: readonly StoredBlock[],
    ranges: readonly ByteRange[],
    part: readonly [from: number, to: number] | undefined,
  ): Promise<Uint8Array> {
    const { isReversed } = this.#coding.layout;
    const { name } = blocks[0]!.place;
    const lengths = ranges.map(({ start, end }) => end - start);
    const total = lengths.reduce((sum, more) => sum + more);
    if (total > maxTogetherBytes && blocks.length > 1) return await this.#readEach(blocks);
    if (total > maxBlockBytes) {
      throw new InputError(
        'decode',
        `The TIFF's ${name} has ${total} compressed bytes: at most ${maxBlockBytes} are read`,
      );
    }
    const bytes = takeBytes(total);
    try {
      await readPlaces(this.#file, ranges, bytes);
      if (isReversed) reverseBits(bytes);
      const inflated = blocks.length === 1 && (await this.#inflateDeflate(bytes, blocks[0]!.rows, part));
      if (inflated) return inflated;
      const stored = blocks.map((block) => block.rows);
      const frame = this.#coding.compression === jpeg ? jpegFrame(bytes) : undefined;
      // In some files, the JPEG of the last strip is as high as the others.
      const rows = blocks.length === 1 && frame ? [Math.max(stored[0]!, frame.height)] : stored;
      const wanted = part ?? [0, stored.reduce((sum, more) => sum + more)];
      const isWhole = wanted[1] - wanted[0] === rows.reduce((sum, more) => sum + more);
      const tiff = this.#describe(rows, isWhole, frame);
      const whyNot = `The TIFF data is damaged or cut off in ${name}${isReversed ? ' (FillOrder 2)' : ''}`;
      return await decodeBlockTiff(makeBlockTiff(tiff, bytes, lengths), tiff, isWhole ? undefined : wanted, whyNot);
    } catch (error) {
      if (!(error instanceof InputError) || blocks.length === 1) throw error;
    } finally {
      giveBackBytes(bytes);
    }
    // Decoded one by one, the blocks show which of them is damaged.
    return await this.#readEach(blocks);
  }

  async #readEach(blocks: readonly StoredBlock[]): Promise<Uint8Array> {
    const { rowBytes } = this.#stored;
    const all = new Uint8Array(blocks.reduce((sum, { rows }) => sum + rows, 0) * rowBytes);
    let row = 0;
    for (const block of blocks) {
      all.set(await this.read([block]), row * rowBytes);
      row += block.rows;
    }
    return all;
  }

  #describe(rows: readonly number[], isWhole: boolean, frame: JpegFrameHeader | undefined): BlockTiff {
    const { layout, compression, photometric, faxOptions, jpegTables } = this.#coding;
    const { rowBytes, width } = this.#stored;
    const common = { rows, compression };
    if (layout.coding === 'packed') {
      // Packed bytes may be cut into rows of any width, and libvips needs some time for each row (measured: 80 MB/s at
      // 256 bytes a row, 230 at 65536).
      const areLong = isWhole && rows[0]! * rowBytes <= maxLineBytes && rows.every((count) => count === rows[0]);
      const shape = areLong ? { width: rows[0]! * rowBytes, rows: rows.map(() => 1) } : { width: rowBytes };
      return { ...common, ...shape, bits: 8, samples: 1, photometric: black };
    }
    if (layout.coding === 'fax') {
      return { ...common, width, bits: 1, samples: 1, photometric: black, tags: faxOptions };
    }
    const { samples } = layout;
    const colours = photometric === ycbcr && samples === 3 ? ycbcr : rgb;
    return {
      ...common,
      width,
      bits: 8,
      samples,
      photometric: samples < 3 ? black : colours,
      // The subsampling of the JPEGs, because the tag of the file is often wrong.
      tags: colours === ycbcr && frame ? [[tiffTags.YCbCrSubSampling, frame.sampling]] : undefined,
      jpegTables: compression === jpeg ? jpegTables : undefined,
    };
  }
}

const [black, rgb] = [1, 2];

function partOf(start: number, rowBytes: number, [from, to]: readonly [number, number]): ByteRange {
  return { start: start + from * rowBytes, end: start + to * rowBytes };
}

const reversed = Uint8Array.from({ length: 256 }, (_, byte) =>
  Array.from({ length: 8 }, (_, bit) => ((byte >> bit) & 1) << (7 - bit)).reduce((a, b) => a | b),
);

function reverseBits(bytes: Uint8Array): void {
  for (let i = 0; i < bytes.length; i++) bytes[i] = reversed[bytes[i]!]!;
}
