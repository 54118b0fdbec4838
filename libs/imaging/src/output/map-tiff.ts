import { type FileHandle, open } from 'node:fs/promises';
import { layOutMapTiff, type MapTiffLayout } from './map-tiff-layout.ts';
import type { Size } from './size.ts';

/** Writes an image band by band into a TIFF file of tiles; memory is one band. */
export class MapTiffWriter {
  /** Rows of a band; the last one may have fewer. */
  readonly bandRows: number;
  readonly #file: FileHandle;
  readonly #layout: MapTiffLayout;
  readonly #size: Size;
  /** One row of tiles; where tiles reach over the image it stays 0. */
  readonly #tiles: Uint8Array;
  #band = 0;

  /** Creates the file. `classicBytes` is for tests: a longer file is BigTIFF. Rejects where the file exists. */
  static async create(path: string, size: Size, description: string, classicBytes?: number): Promise<MapTiffWriter> {
    const layout = layOutMapTiff(size, description, 'halogrid', classicBytes);
    const file = await open(path, 'wx');
    await file.writeFile(layout.head);
    return new MapTiffWriter(file, layout, size);
  }

  private constructor(file: FileHandle, layout: MapTiffLayout, size: Size) {
    this.#file = file;
    this.#layout = layout;
    this.#size = size;
    this.bandRows = layout.tile.height;
    this.#tiles = new Uint8Array(layout.tilesAcross * layout.tile.width * layout.tile.height);
  }

  /** Writes the next band from the top: rows of the image's width without gaps. */
  async writeBand(rows: Uint8Array): Promise<void> {
    const { tile, tilesAcross } = this.#layout;
    const { width, height } = this.#size;
    const bandHeight = Math.min(tile.height, height - this.#band * tile.height);
    if (bandHeight < tile.height) this.#tiles.fill(0);
    for (let across = 0; across < tilesAcross; across++) {
      const x = across * tile.width;
      const columns = Math.min(tile.width, width - x);
      for (let y = 0; y < bandHeight; y++) {
        const row = rows.subarray(y * width + x, y * width + x + columns);
        this.#tiles.set(row, (across * tile.height + y) * tile.width);
      }
    }
    await this.#file.writeFile(this.#tiles);
    this.#band++;
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
}
