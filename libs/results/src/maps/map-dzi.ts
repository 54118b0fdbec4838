import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Size, sampleBytes } from '@halogrid/geometry';
import { loadSharp } from '@halogrid/imaging/sharp';
import { forEachLimited } from '@halogrid/threads';
import { bytesPerPixel, type MapType } from '../layout/map-type.ts';
import { pngOptions } from '../pictures/encodings.ts';
import { previewPicture } from '../pictures/preview-picture.ts';
import type { MapWriter } from './pyramid.ts';

/** Side of a tile in pixels, as most viewers cut tiles themselves. */
export const dziTilePx = 256;

/** How many tiles are compressed at once: libuv has as many threads by default. */
const tilesAtOnce = 4;

export interface MapDziOptions {
  /** The folder of the levels, which must not exist. */
  files: string;
  /** Sizes of the levels, from the map down to one pixel. */
  sizes: readonly Size[];
  type: MapType;
  /** Bins per channel: the last is white. */
  bins: number;
}

/**
 * Writes the tiles of Deep Zoom: a folder per level, where level 0 is one pixel, with PNGs that show the map as
 * previews do. Tiles do not overlap.
 */
export class MapDziWriter implements MapWriter {
  readonly #options: MapDziOptions;

  static async create(options: MapDziOptions): Promise<MapDziWriter> {
    await mkdir(options.files);
    for (const level of options.sizes.keys()) await mkdir(join(options.files, String(level)));
    return new MapDziWriter(options);
  }

  private constructor(options: MapDziOptions) {
    this.#options = options;
  }

  /** The rows must be all rows of one row of tiles. */
  async writeRows(level: number, y: number, rows: number, strip: Uint8Array): Promise<void> {
    const { files, sizes } = this.#options;
    const { width } = sizes[level]!;
    const folder = join(files, String(sizes.length - 1 - level));
    const columns = Array.from({ length: Math.ceil(width / dziTilePx) }, (_, column) => column);
    await forEachLimited(columns, tilesAtOnce, async (column) => {
      const png = await this.#tile(strip, { width, height: rows }, column * dziTilePx);
      await writeFile(join(folder, `${column}_${y / dziTilePx}.png`), png, { flag: 'wx' });
    });
  }

  async finish(): Promise<void> {}

  async abort(): Promise<void> {}

  async #tile(strip: Uint8Array, { width, height }: Size, x: number): Promise<Buffer> {
    const { type, bins } = this.#options;
    const unit = sampleBytes[type.sample];
    const tile = { width: Math.min(dziTilePx, width - x), height };
    const samples = new Uint8Array(tile.width * height * bytesPerPixel(type));
    for (let row = 0; row < type.bands * height; row++) {
      const at = (row * width + x) * unit;
      samples.set(strip.subarray(at, at + tile.width * unit), row * tile.width * unit);
    }
    const { pixels, ...raw } = previewPicture(samples, tile, type, bins);
    const sharp = await loadSharp();
    return sharp(pixels, { raw })
      .toColourspace(raw.channels === 3 ? 'srgb' : 'b-w')
      .png(pngOptions)
      .toBuffer();
  }
}

/** The content of the .dzi file, which names the size and the tiles. */
export function dziXml({ width, height }: Size): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<Image xmlns="http://schemas.microsoft.com/deepzoom/2008" Format="png" Overlap="0" TileSize="${dziTilePx}">
  <Size Width="${width}" Height="${height}"/>
</Image>
`;
}
