import { type Rect, sampleBytes } from '@halogrid/geometry';
import { InputError, type InputFile } from '@halogrid/sources';
import type { Pixels, PlaneTarget } from '../../planes/plane-target.ts';
import { writeRows } from '../../planes/write-rows.ts';
import { type BlockPlace, BlockPlaces, type BlockWindow } from './block-places.ts';
import { readColourTables, readFill } from './colour-tags.ts';
import { RowReader } from './row-reader.ts';
import { type StoredRows, samplesOf, storedRows } from './stored-rows.ts';
import { tiffTags } from './tag-names.ts';
import type { TiffHeader } from './tiff-header.ts';
import type { TiffLayout } from './tiff-layout.ts';
import type { TiffEntry, TiffReader } from './tiff-reader.ts';
import { type ColourTables, type SampleBlock, toColours } from './to-colours.ts';

/** Samples of blocks that are read together. */
const runSamples = 2 ** 22;

/** Those of parts of a compressed block, each of which is decoded again from its first row. */
const partSamples = 2 ** 26;

/** Blocks whose places are known at once, and their decoded bytes. */
const windowBlocks = 2 ** 14;
const windowBytes = 2 ** 26;

/** Bytes of a row of samples, which is held at least. */
const maxRowBytes = 2 ** 30;

const maxTablesBytes = 2 ** 16;

/** Opens the blocks of a page. Rejects with InputError. */
export async function openBlocks(
  file: InputFile,
  reader: TiffReader,
  entries: ReadonlyMap<number, TiffEntry>,
  header: TiffHeader,
  layout: TiffLayout,
): Promise<BlockPage> {
  const places = await BlockPlaces.open(reader, entries, header, layout.planes);
  const tables = entries.get(tiffTags.JPEGTables);
  const faxOptions: [number, number[]][] = [];
  for (const tag of [tiffTags.T4Options, tiffTags.T6Options]) {
    const entry = entries.get(tag);
    if (layout.coding === 'fax' && entry) faxOptions.push([tag, await reader.integers(entry, 1)]);
  }
  const { compression, photometric } = header.storage;
  const stored = storedRows(layout, header.block.width);
  const rowBytes = stored.width * stored.samples * stored.pixelRows * sampleBytes[layout.pixel];
  if (rowBytes > maxRowBytes) {
    throw new InputError('decode', `A row of the TIFF takes ${rowBytes} bytes: at most ${maxRowBytes} are held`);
  }
  const coding = {
    layout,
    compression,
    photometric: photometric!,
    faxOptions,
    jpegTables: tables && layout.coding === 'picture' ? await reader.bytes(tables, maxTablesBytes) : undefined,
  };
  return new BlockPage(file, header, layout, {
    places,
    stored,
    blocks: new RowReader(file, coding, stored),
    colours: await readColourTables(reader, entries, layout),
    fill: await readFill(reader, entries, layout),
    isBigEndian: reader.isBigEndian,
  });
}

interface PageParts {
  places: BlockPlaces;
  stored: StoredRows;
  blocks: RowReader;
  colours: ColourTables;
  /** What samples of blocks are that the file leaves out. */
  fill: number;
  isBigEndian: boolean;
}

/** Blocks one below the other that are read together: of a single one all rows, or those from `from` up to `to`. */
interface Run {
  /** The column, and the first row, of blocks. */
  column: number;
  row: number;
  /** Of each plane the blocks, or that there is none. */
  planes: (BlockPlace | undefined)[][];
  /** Rows of pixels in all blocks that are read. */
  from: number;
  to: number;
}

/** A page of a TIFF as blocks, of which a region takes those that it touches. */
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

  /** Decodes the luma, or the red, green and blue, of `region` into the planes of `to`. Rejects with InputError. */
  async decode(region: Rect, to: PlaneTarget): Promise<void> {
    const { block } = this.#header;
    const left = Math.floor(region.x / block.width);
    const columns = Math.floor((region.x + region.width - 1) / block.width) + 1 - left;
    const end = Math.floor((region.y + region.height - 1) / block.height) + 1;
    const rowBytes = this.#storedRowsOf(block.height) * this.#parts.stored.rowBytes * columns;
    const most = Math.max(1, Math.floor(Math.min(windowBytes / rowBytes, windowBlocks / columns)));
    for (let top = Math.floor(region.y / block.height); top < end; top += most) {
      const window = { top, left, rows: Math.min(most, end - top), columns };
      for (const run of await this.#runsOf(window, region)) await this.#decodeRun(run, region, to);
    }
  }

  /** Stored rows of so many rows of pixels. */
  #storedRowsOf(pixelRows: number): number {
    return Math.ceil(pixelRows / this.#parts.stored.pixelRows);
  }

  /** Rows of pixels in the block of that row. Strips end with the image, tiles do not. */
  #rowsOfBlock(row: number): number {
    const { block, height } = this.#header;
    return block.isTile ? block.height : Math.min(block.height, height - row * block.height);
  }

  async #runsOf(window: BlockWindow, region: Rect): Promise<Run[]> {
    const { places, stored, blocks } = this.#parts;
    const planes: (BlockPlace | undefined)[][] = [];
    for (let plane = 0; plane < this.#layout.planes; plane++) planes.push(await places.of(plane, window));
    const ranges = planes.flatMap((all) =>
      all.flatMap((place, i) => {
        const row = window.top + Math.floor(i / window.columns);
        return place ? [blocks.rangeOf(place, this.#storedRowsOf(this.#rowsOfBlock(row)))] : [];
      }),
    );
    if (this.#file.kind === 'remote') await this.#file.copyParts(ranges);
    const { block } = this.#header;
    // Where blocks end within a unit of chroma, their rows do not follow each other.
    const areJoined = block.height % stored.pixelRows === 0;
    const together = areJoined ? Math.floor(runSamples / (stored.width * stored.samples * block.height)) : 1;
    const runs: Run[] = [];
    for (let column = 0; column < window.columns; column++) {
      const at = (plane: number, row: number) => planes[plane]![row * window.columns + column];
      const isWhole = (row: number): boolean => planes.every((_, plane) => at(plane, row));
      for (let row = 0, next = 0; row < window.rows; row = next) {
        next = row + 1;
        if (isWhole(row)) while (next < window.rows && next - row < together && isWhole(next)) next++;
        const ofRun = planes.map((_, plane) => Array.from({ length: next - row }, (_, i) => at(plane, row + i)));
        const run = { column: window.left + column, row: window.top + row, planes: ofRun };
        runs.push(...this.#cut(run, region, next - row));
      }
    }
    return runs;
  }

  /** Of a single block, parts of the rows that the region needs. */
  #cut(run: Omit<Run, 'from' | 'to'>, { y, height }: Rect, blocks: number): Run[] {
    const top = run.row * this.#header.block.height;
    const all = (blocks - 1) * this.#header.block.height + this.#rowsOfBlock(run.row + blocks - 1);
    if (blocks > 1) return [{ ...run, from: 0, to: all }];
    const { width, samples, pixelRows } = this.#parts.stored;
    const most = this.#layout.coding === 'stored' ? runSamples : partSamples;
    const step = pixelRows * Math.max(1, Math.floor(most / (width * samples * pixelRows)));
    const needed = Math.min(all, Math.ceil((y + height - top) / pixelRows) * pixelRows);
    const first = Math.floor(Math.max(0, y - top) / pixelRows) * pixelRows;
    const parts: Run[] = [];
    for (let from = first; from < needed; from += step) parts.push({ ...run, from, to: Math.min(needed, from + step) });
    return parts;
  }

  async #decodeRun(run: Run, region: Rect, to: PlaneTarget): Promise<void> {
    const { block, width } = this.#header;
    const samples: SampleBlock[] = [];
    for (let plane = 0; plane < run.planes.length; plane++) samples.push(await this.#read(plane, run));
    const [left, top] = [run.column * block.width, run.row * block.height + run.from];
    const x = Math.max(left, region.x);
    const y = Math.max(top, region.y);
    const right = Math.min(left + block.width, width, region.x + region.width);
    const bottom = Math.min(top + run.to - run.from, region.y + region.height);
    const crop = { x: x - left, y: y - top, width: right - x, height: bottom - y };
    const offset = (y - region.y) * to.stride + (x - region.x) * sampleBytes[this.#layout.pixel];
    const rows = toColours(samples, crop, this.#layout, this.#parts.colours);
    writeRows(rows, { ...to, offset: to.offset + offset });
  }

  async #read(plane: number, { row, from, to, planes }: Run): Promise<SampleBlock> {
    const { stored, blocks, isBigEndian } = this.#parts;
    const { width, samples, pixelRows } = stored;
    const known = planes[plane]!.flatMap((place, i) =>
      place ? [{ place, rows: this.#storedRowsOf(this.#rowsOfBlock(row + i)) }] : [],
    );
    if (known.length === 0) return { pixels: this.#missing((to - from) * width, plane), width, samples };
    const bytes = await blocks.read(known, [from / pixelRows, this.#storedRowsOf(to)]);
    return { pixels: samplesOf(bytes, stored, this.#layout, isBigEndian), width, samples };
  }

  /** Samples of so many pixels of a block that the file leaves out. */
  #missing(count: number, plane: number): Pixels {
    const { fill, stored } = this.#parts;
    const { pixel, colours } = this.#layout;
    const pixels = new (pixel === 'u8' ? Uint8Array : Uint16Array)(count * stored.samples).fill(fill);
    // Of YCbCr it is the Y, and chroma has no colour.
    if (colours !== 'ycbcr') return pixels;
    if (stored.samples === 1) return plane === 0 ? pixels : pixels.fill(noChroma);
    return pixels.map((value, i) => (i % 3 === 0 ? value : noChroma));
  }
}

const noChroma = 128;
