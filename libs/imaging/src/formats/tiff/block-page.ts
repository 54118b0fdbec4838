import { type Rect, sampleBytes } from '@halogrid/geometry';
import { type ByteRange, InputError, type InputFile } from '@halogrid/sources';
import { mapAhead } from '@halogrid/threads';
import { type PlaneTarget, planesFrom } from '../../planes/plane-target.ts';
import { bandsOfBlock } from './bands-of-block.ts';
import { BlockPlaces, type BlockWindow, type TiffBlock } from './block-places.ts';
import { fillOf, readColourTables } from './colour-tags.ts';
import { type LercPacking, lercPackings } from './inflate-lerc.ts';
import { RowReader } from './row-reader.ts';
import type { Samples } from './scale-samples.ts';
import { emptySamples, type StoredRows, storedRows, storedSamples } from './stored-rows.ts';
import { tiffTags } from './tag-names.ts';
import type { TiffHeader } from './tiff-header.ts';
import type { TiffLayout } from './tiff-layout.ts';
import type { TiffEntry, TiffReader } from './tiff-reader.ts';
import type { ColourTables } from './to-colours.ts';
import { writeColours } from './write-colours.ts';

/** The most samples of blocks that are read at the same time. */
const runSamples = 2 ** 22;

/** The most samples of a part of a compressed block. Each part is decoded from the first row of the block. */
const partSamples = 2 ** 26;

/** The most blocks whose places are in memory at once, and the most decoded bytes of them. */
const windowBlocks = 2 ** 14;
const windowBytes = 2 ** 26;

/** The most bytes of a row of samples: at least one row is in memory. */
const maxRowBytes = 2 ** 30;

const maxTablesBytes = 2 ** 16;

/** The most blocks under way of a region: other regions are decoded at the same time. */
const mostAhead = 4;

/**
 * Opens the blocks of a page, from plane `firstPlane` on. `noData`: the sample that stands for no value, or NaN.
 * Rejects with InputError.
 */
export async function openBlocks(
  file: InputFile,
  reader: TiffReader,
  entries: ReadonlyMap<number, TiffEntry>,
  header: TiffHeader,
  layout: TiffLayout,
  noData: number,
  firstPlane: number,
): Promise<BlockPage> {
  const places = await BlockPlaces.open(reader, entries, header, firstPlane + layout.planes);
  const tables = entries.get(tiffTags.JPEGTables);
  const faxOptions: [number, number[]][] = [];
  for (const tag of [tiffTags.T4Options, tiffTags.T6Options]) {
    const entry = entries.get(tag);
    if (layout.coding === 'fax' && entry) faxOptions.push([tag, await reader.integers(entry, 1)]);
  }
  const { compression, photometric } = header.storage;
  const stored = storedRows(layout, header.block.width);
  const rowBytes =
    stored.width * stored.samples * stored.pixelRows * Math.max(sampleBytes[layout.pixel], stored.bits / 8);
  if (rowBytes > maxRowBytes) {
    throw new InputError('decode', `A row of the TIFF takes ${rowBytes} bytes: at most ${maxRowBytes} are held`);
  }
  const coding = {
    layout,
    compression,
    photometric: photometric!,
    faxOptions,
    lercPacking: await readLercPacking(reader, entries, layout),
    jpegTables: tables && layout.coding === 'picture' ? await reader.bytes(tables, maxTablesBytes) : undefined,
  };
  return new BlockPage(file, header, layout, {
    firstPlane,
    places,
    stored,
    reader: new RowReader(file, coding, stored),
    colours: await readColourTables(reader, entries, layout),
    fill: fillOf(noData, layout),
    isBigEndian: reader.isBigEndian,
  });
}

async function readLercPacking(
  reader: TiffReader,
  entries: ReadonlyMap<number, TiffEntry>,
  { coding }: TiffLayout,
): Promise<LercPacking> {
  const entry = entries.get(tiffTags.LercParameters);
  if (coding !== 'lerc' || !entry) return 'none';
  const [, number] = await reader.integers(entry, 2);
  const packing = lercPackings[number ?? 0];
  if (packing) return packing;
  throw new InputError(
    'decode',
    `LERC with the additional compression ${number} (LercParameters) is not supported: 0 (none), 1 (Deflate) and 2 (Zstandard) are`,
  );
}

interface PageParts {
  firstPlane: number;
  places: BlockPlaces;
  stored: StoredRows;
  reader: RowReader;
  colours: ColourTables;
  /** The value of samples in blocks that the file leaves out. */
  fill: number;
  isBigEndian: boolean;
}

/** A block, and its place in each plane; undefined if the file leaves it out. */
interface Block {
  row: number;
  column: number;
  places: (TiffBlock | undefined)[];
}

/**
 * Blocks that are read together: all rows of several blocks, or the rows of pixels from `from` up to `to` of a single
 * one.
 */
interface Run {
  blocks: Block[];
  from: number;
  to: number;
}

/** A page of a TIFF as blocks. To decode a region, it reads the blocks that the region touches. */
export class BlockPage {
  readonly #file: InputFile;
  readonly #header: TiffHeader;
  readonly #layout: TiffLayout;
  readonly #parts: PageParts;

  constructor(file: InputFile, header: TiffHeader, layout: TiffLayout, parts: PageParts) {
    this.#file = file;
    this.#header = header;
    this.#layout = layout;
    this.#parts = parts;
  }

  /**
   * Decodes the luma, or the red, green and blue, or the bands of `region` into the planes of `to`. Rejects with
   * InputError.
   */
  async decode(region: Rect, to: PlaneTarget): Promise<void> {
    const { block } = this.#header;
    const left = Math.floor(region.x / block.width);
    const columns = Math.floor((region.x + region.width - 1) / block.width) + 1 - left;
    const end = Math.floor((region.y + region.height - 1) / block.height) + 1;
    const rowBytes = this.#storedRowsOf(block.height) * this.#parts.stored.rowBytes * columns;
    const most = Math.max(1, Math.floor(Math.min(windowBytes / rowBytes, windowBlocks / columns)));
    for (let top = Math.floor(region.y / block.height); top < end; top += most) {
      const blocks = await this.#blocksOf({ top, left, rows: Math.min(most, end - top), columns });
      await this.#decodeRuns(this.#runsOf(blocks, region), region, to);
    }
  }

  /** The number of blocks that are read at the same time. */
  get #together(): number {
    const { width, samples } = this.#parts.stored;
    return Math.floor(runSamples / (width * samples * this.#header.block.height));
  }

  /** The number of stored rows that hold `pixelRows` rows of pixels. */
  #storedRowsOf(pixelRows: number): number {
    return Math.ceil(pixelRows / this.#parts.stored.pixelRows);
  }

  /** The rows of pixels in a block. Strips end with the image, tiles do not. */
  #rowsOf({ row }: { row: number }): number {
    const { block, height } = this.#header;
    return block.isTile ? block.height : Math.min(block.height, height - row * block.height);
  }

  /** The blocks of a window, row by row. Checks that all are in the file; from a server, it fetches them. */
  async #blocksOf(window: BlockWindow): Promise<Block[]> {
    const blocks: Block[] = Array.from({ length: window.rows * window.columns }, (_, i) => ({
      row: window.top + Math.floor(i / window.columns),
      column: window.left + (i % window.columns),
      places: [],
    }));
    const ranges: ByteRange[] = [];
    for (let plane = 0; plane < this.#layout.planes; plane++) {
      for (const [i, place] of (await this.#parts.places.of(this.#parts.firstPlane + plane, window)).entries()) {
        const block = blocks[i]!;
        block.places.push(place);
        if (place) ranges.push(this.#parts.reader.rangeOf(place, this.#storedRowsOf(this.#rowsOf(block))));
      }
    }
    if (this.#file.kind === 'remote') await this.#file.copyParts(ranges);
    return blocks;
  }

  #runsOf(blocks: readonly Block[], region: Rect): Run[] {
    const together = this.#parts.reader.isOneByOne ? 1 : this.#together;
    const isThere = (block: Block | undefined): boolean => block?.places.every(Boolean) ?? false;
    const runs: Run[] = [];
    for (let first = 0, next = 0; first < blocks.length; first = next) {
      next = first + 1;
      if (isThere(blocks[first])) while (next - first < together && isThere(blocks[next])) next++;
      if (next === first + 1) runs.push(...this.#partsOf(blocks[first]!, region));
      else runs.push({ blocks: blocks.slice(first, next), from: 0, to: this.#header.block.height });
    }
    return runs;
  }

  /** The rows of a single block that the region needs, in parts that fit into memory. */
  #partsOf(block: Block, { y, height }: Rect): Run[] {
    const { width, samples, pixelRows } = this.#parts.stored;
    const top = block.row * this.#header.block.height;
    const most = this.#layout.coding === 'stored' ? runSamples : partSamples;
    const step = pixelRows * Math.max(1, Math.floor(most / (width * samples * pixelRows)));
    const needed = Math.min(this.#rowsOf(block), Math.ceil((y + height - top) / pixelRows) * pixelRows);
    const first = Math.floor(Math.max(0, y - top) / pixelRows) * pixelRows;
    const parts: Run[] = [];
    for (let from = first; from < needed; from += step) {
      parts.push({ blocks: [block], from, to: Math.min(needed, from + step) });
    }
    return parts;
  }

  /** Reads runs ahead, and writes their pixels in order: of several damaged blocks the first one is told. */
  async #decodeRuns(runs: readonly Run[], region: Rect, to: PlaneTarget): Promise<void> {
    const ahead = this.#parts.reader.isOneByOne ? Math.min(mostAhead, Math.max(1, this.#together)) : 1;
    const read = (run: Run) =>
      this.#readPlanes(run).then(
        (planes) => ({ run, planes }),
        (error: unknown) => ({ error }),
      );
    // None may read the file when this has settled.
    for await (const found of mapAhead(runs, ahead, read, { discard: async () => {} })) {
      if ('error' in found) throw found.error;
      this.#write(found.run, found.planes, region, to);
      found.planes.forEach(freeSamples);
    }
  }

  async #readPlanes(run: Run): Promise<Samples[]> {
    const planes: Samples[] = [];
    for (let plane = 0; plane < this.#layout.planes; plane++) planes.push(await this.#read(plane, run));
    return planes;
  }

  #write(run: Run, planes: readonly Samples[], region: Rect, to: PlaneTarget): void {
    const { block, width } = this.#header;
    const { stored, colours } = this.#parts;
    const ofBlock = this.#storedRowsOf(run.to - run.from) * stored.pixelRows * stored.width * stored.samples;
    for (const [i, { row, column }] of run.blocks.entries()) {
      const [left, top] = [column * block.width, row * block.height + run.from];
      const x = Math.max(left, region.x);
      const y = Math.max(top, region.y);
      const right = Math.min(left + block.width, width, region.x + region.width);
      const bottom = Math.min(top + run.to - run.from, region.y + region.height);
      const crop = { x: x - left, y: y - top, width: right - x, height: bottom - y };
      const samples = planes.map((pixels) => ({ ...stored, pixels: pixels.subarray(i * ofBlock, (i + 1) * ofBlock) }));
      const [across, down] = [x - region.x, y - region.y];
      const bands = bandsOfBlock(samples, crop, this.#layout.firstSamples);
      for (const [band, { blocks, area, firstSample }] of bands.entries()) {
        writeColours(blocks, area, this.#layout, colours, { to: planesFrom(to, band), across, down, firstSample });
      }
    }
  }

  /** The samples of a plane, block after block. */
  async #read(plane: number, { blocks, from, to }: Run): Promise<Samples> {
    const { stored, reader, isBigEndian } = this.#parts;
    const known = blocks.flatMap((block) => {
      const place = block.places[plane];
      return place ? [{ place, rows: this.#storedRowsOf(this.#rowsOf(block)) }] : [];
    });
    if (known.length === 0) return this.#missing((to - from) * stored.width, plane);
    const part = blocks.length === 1 ? ([from / stored.pixelRows, this.#storedRowsOf(to)] as const) : undefined;
    return storedSamples(await reader.read(known, part), stored, this.#layout, isBigEndian);
  }

  /** The samples of `count` pixels of a block that the file leaves out. */
  #missing(count: number, plane: number): Samples {
    const { fill, stored } = this.#parts;
    const { colours } = this.#layout;
    const pixels = emptySamples(count * stored.samples, stored, this.#layout).fill(fill);
    // In YCbCr, the value is Y, and chroma is neutral.
    if (colours !== 'ycbcr') return pixels;
    if (stored.samples === 1) return plane === 0 ? pixels : pixels.fill(noChroma);
    return pixels.map((value, i) => (i % 3 === 0 ? value : noChroma));
  }
}

const noChroma = 128;

/**
 * Gives the memory of samples back at once: V8 would keep hundreds of megabytes of it until it collects the whole heap.
 * Memory of up to `Buffer.poolSize` bytes may be shared with other buffers.
 */
function freeSamples({ buffer }: Samples): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength > Buffer.poolSize) buffer.transfer(0);
}
