import { type FileHandle, open } from 'node:fs/promises';
import type { Size } from '@halogrid/geometry';
import { bytesPerPixel, type MapType } from '../layout/map-type.ts';
import { layOutMapTiff, type MapTiffFacts, type MapTiffLayout } from './map-tiff-layout.ts';
import type { MapWriter } from './pyramid.ts';
import { cutPiece, writeFully } from './strip-piece.ts';

/** Writes a map and its coarser levels into a TIFF file of tiles. It holds a part of one tile in memory. */
export class MapTiffWriter implements MapWriter {
  readonly #file: FileHandle;
  readonly #layout: MapTiffLayout;
  readonly #type: MapType;

  /** Creates the file. `classicBytes` is for tests: a longer file is BigTIFF. Rejects if the file exists. */
  static async create(
    path: string,
    sizes: readonly Size[],
    type: MapType,
    facts: MapTiffFacts,
    classicBytes?: number,
  ): Promise<MapTiffWriter> {
    const layout = layOutMapTiff(sizes, type, facts, classicBytes);
    const file = await open(path, 'wx');
    try {
      await file.writeFile(layout.head);
      // The parts of tiles below the image are never written, and read as 0.
      await file.truncate(layout.fileBytes);
    } catch (error) {
      await file.close();
      throw error;
    }
    return new MapTiffWriter(file, layout, type);
  }

  private constructor(file: FileHandle, layout: MapTiffLayout, type: MapType) {
    this.#file = file;
    this.#layout = layout;
    this.#type = type;
  }

  /** The rows must not reach into a second row of tiles. */
  async writeRows(level: number, y: number, rows: number, strip: Uint8Array): Promise<void> {
    const { size, tile, tileBytes, tilesAcross, offset } = this.#layout.levels[level]!;
    const tileRowBytes = tile.width * bytesPerPixel(this.#type);
    const piece = new Uint8Array(rows * tileRowBytes);
    const firstTile = Math.floor(y / tile.height) * tilesAcross;
    const inTile = (y % tile.height) * tileRowBytes;
    for (let across = 0; across < tilesAcross; across++) {
      const area = { width: size.width, height: rows };
      cutPiece(strip, area, this.#type, across * tile.width, tile.width, piece);
      await writeFully(this.#file, piece, offset + (firstTile + across) * tileBytes + inTile);
    }
  }

  async finish(): Promise<void> {
    try {
      await this.#file.sync();
    } finally {
      await this.#file.close();
    }
  }

  async abort(): Promise<void> {
    await this.#file.close();
  }
}
