import { type FileHandle, open } from 'node:fs/promises';
import { layOutMapTiff, type MapTiffLayout, mapTilePx } from './map-tiff-layout.ts';
import { type MapType, pixelBytes, samplesOf } from './map-type.ts';
import type { Size } from './size.ts';

/** A strip has at most this, or one row where that has more. It bounds the memory for an image of any width. */
const stripBytes = 64 * 2 ** 20;

/** Writes a map strip by strip into a TIFF file of tiles; memory is a part of one tile. */
export class MapTiffWriter {
  /** Rows of a strip, a power of two; the last strip may have fewer. */
  readonly stripRows: number;
  readonly #file: FileHandle;
  readonly #layout: MapTiffLayout;
  readonly #size: Size;
  readonly #type: MapType;
  /** The rows of one tile that a strip has. */
  readonly #piece: Uint8Array;
  #nextRow = 0;

  /** Creates the file. `classicBytes` is for tests: a longer file is BigTIFF. Rejects where the file exists. */
  static async create(
    path: string,
    size: Size,
    type: MapType,
    description: string,
    classicBytes?: number,
  ): Promise<MapTiffWriter> {
    const layout = layOutMapTiff(size, type, description, 'halogrid', classicBytes);
    const file = await open(path, 'wx');
    try {
      await file.writeFile(layout.head);
      // What no strip fills, because tiles reach below the image, reads as 0.
      await file.truncate(layout.fileBytes);
    } catch (error) {
      await file.close();
      throw error;
    }
    return new MapTiffWriter(file, layout, size, type);
  }

  private constructor(file: FileHandle, layout: MapTiffLayout, size: Size, type: MapType) {
    this.#file = file;
    this.#layout = layout;
    this.#size = size;
    this.#type = type;
    this.stripRows = stripRows(size.width * pixelBytes(type));
    const rows = Math.min(this.stripRows, layout.tile.height);
    this.#piece = new Uint8Array(rows * layout.tile.width * pixelBytes(type));
  }

  /** Writes the next strip from the top: the bands one after another, each with rows of the image's width without gaps. */
  async writeStrip(strip: Uint8Array): Promise<void> {
    const { head, tile, tileBytes, tilesAcross } = this.#layout;
    const tileRowBytes = tile.width * pixelBytes(this.#type);
    const rows = strip.length / (this.#size.width * pixelBytes(this.#type));
    const piece = this.#piece.subarray(0, rows * tileRowBytes);
    const firstTile = Math.floor(this.#nextRow / tile.height) * tilesAcross;
    const rowInTile = this.#nextRow % tile.height;
    for (let across = 0; across < tilesAcross; across++) {
      this.#interleave(strip, rows, across * tile.width, piece);
      const at = head.length + (firstTile + across) * tileBytes + rowInTile * tileRowBytes;
      await writeFully(this.#file, piece, at);
    }
    this.#nextRow += rows;
  }

  /** Makes the file durable and closes it. */
  async finish(): Promise<void> {
    try {
      await this.#file.sync();
    } finally {
      await this.#file.close();
    }
  }

  /** Closes a file that will not be finished. */
  async abort(): Promise<void> {
    await this.#file.close();
  }

  /** Fills `piece` with the pixels from column `x` on, the bands of each together; 0 beyond the image. */
  #interleave(strip: Uint8Array, rows: number, x: number, piece: Uint8Array): void {
    const { sample, bands } = this.#type;
    const { width } = this.#size;
    const tileWidth = this.#layout.tile.width;
    const columns = Math.min(tileWidth, width - x);
    if (columns < tileWidth) piece.fill(0);
    const from = samplesOf(strip, sample);
    const to = samplesOf(piece, sample);
    for (let band = 0; band < bands; band++) {
      for (let y = 0; y < rows; y++) {
        let at = (band * rows + y) * width + x;
        let into = y * tileWidth * bands + band;
        if (bands === 1) {
          to.set(from.subarray(at, at + columns), into);
          continue;
        }
        for (const end = at + columns; at < end; at++, into += bands) to[into] = from[at]!;
      }
    }
  }
}

/** A power of two, so that a strip ends where a tile ends. */
function stripRows(rowBytes: number): number {
  let rows = mapTilePx;
  while (rows > 1 && rows * rowBytes > stripBytes) rows /= 2;
  return rows;
}

async function writeFully(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, position + done);
    done += bytesWritten;
  }
}
