import { randomUUID } from 'node:crypto';
import type { Rect, Size } from '@halogrid/geometry';
import { type ByteRange, InputError, type InputFile } from '@halogrid/sources';
import { forEachLimited } from '@halogrid/threads';
import { checkHasPixels, checkWholePixels } from '../../pixel-limit.ts';
import { checkDecodeRequest } from '../../planes/decode-request.ts';
import type { OpenImage } from '../../planes/image.ts';
import { type PlaneTarget, planesFrom } from '../../planes/plane-target.ts';
import { type ReadOptions, readName } from '../../planes/read-options.ts';
import { chooseLevel } from '../tiff/pyramid-levels.ts';
import { rangeOfSamples } from '../tiff/sample-range.ts';
import type { Samples } from '../tiff/scale-samples.ts';
import { writeColours } from '../tiff/write-colours.ts';
import { ChunkCache } from '../zarr/chunk-cache.ts';
import { type Codestream, readCodestream } from './codestream.ts';
import { checkTileSize, decodeTile } from './decode-tile.ts';
import { FileWindow } from './file-window.ts';
import { readBoxes } from './jp2-boxes.ts';
import { type Jp2Layout, jp2Layout } from './jp2-layout.ts';
import { findTileParts } from './tile-parts.ts';
import { areaAt, tileOf, tilesAt } from './tile-stream.ts';

/** An image in larger tiles is decoded whole. */
const maxTilePixels = 2 ** 24;

/** Tiles of an image that are read and decoded at once. */
const tilesAtOnce = 8;

/** Decoded tiles of all images that are read on this thread: tiles of a job share tiles of an image. */
const cache = new ChunkCache<{ data: Samples }>(2 ** 27);

/**
 * Takes `file` over and keeps it open. An image of several tiles is read by region: each tile is decoded as a
 * codestream of its own. A level halves the sides as the codestream itself does. Rejects with InputError.
 */
export async function openJp2(
  file: InputFile,
  maxWholePixels: number,
  read: ReadOptions & { uri: string },
): Promise<OpenImage> {
  const window = new FileWindow(file);
  const boxes = await readBoxes(window);
  const stream = await readCodestream(window, boxes.start, boxes.end);
  const layout = jp2Layout(stream, boxes, read);
  if (typeof layout === 'string') throw new InputError('decode', layout);
  const level = levelOf(stream, read);
  const { width, height } = areaAt(stream, stream, level);
  checkHasPixels(width, height);
  checkTileSize(stream, level);
  const { tiles } = stream;
  const tilePixels = (tiles.width * tiles.height) / 4 ** level;
  const readsRegions = tiles.columns * tiles.rows > 1 && tilePixels <= maxTilePixels;
  if (!readsRegions) checkWholePixels(width, height, maxWholePixels);
  const parts = await findTileParts(window, stream);
  const isSure = file.kind === 'local' || file.hasSureVersion;
  const key = isSure ? `${read.uri} ${file.version} ${readName(read)}` : randomUUID();
  const image = { file, stream, parts, layout, level, key, keeps: readsRegions };
  cache.open();
  let isOpen = true;
  const opened: OpenImage = {
    format: 'jp2',
    width,
    height,
    pixel: layout.pixel,
    ...(layout.colours !== 'palette' && { bands: stream.components }),
    grayPlanes: read.band?.numbers.length,
    samples: layout.scale && rangeOfSamples(layout),
    ...((layout.scale || layout.colours !== 'gray' || layout.bits < 8) && { isConverted: true }),
    readsRegions,
    get inputBytes() {
      return file.bytesRead;
    },
    async decode(region: Rect, to: PlaneTarget): Promise<void> {
      checkDecodeRequest(opened, region, to);
      await decodeRegion(image, region, to);
    },
    async close(): Promise<void> {
      if (!isOpen) return;
      isOpen = false;
      cache.close();
      await file.close();
    },
  };
  return opened;
}

/** The level that is asked for, if all tiles have it. */
function levelOf(stream: Codestream, { level: asked }: ReadOptions): number {
  if (!asked) return 0;
  const levels: Size[] = Array.from({ length: stream.halvings + 1 }, (_, level) => areaAt(stream, stream, level));
  const chosen = chooseLevel(levels, asked, undefined, 'JPEG 2000');
  if (typeof chosen === 'string') throw new InputError('decode', chosen);
  return chosen;
}

interface Image {
  file: InputFile;
  stream: Codestream;
  /** The places of the parts of each tile. */
  parts: ByteRange[][];
  layout: Jp2Layout;
  level: number;
  /** The beginning of the keys of its tiles in the cache, and whether they are kept there. */
  key: string;
  keeps: boolean;
}

async function decodeRegion(image: Image, region: Rect, to: PlaneTarget): Promise<void> {
  const { file, stream, parts, layout, level, key } = image;
  const numbers = tilesAt(stream, region, level);
  if (file.kind === 'remote') await file.copyParts(numbers.flatMap((number) => parts[number]!));
  await forEachLimited(numbers, tilesAtOnce, async (number) => {
    for (const [plane, components] of layout.planes.entries()) {
      const load = async () => ({ data: await readTile(image, number, components) });
      const tile = await (image.keeps ? cache.get(`${key} ${number} ${plane}`, load) : load());
      const area = areaAt(tileOf(stream, number), stream, level);
      copyTile(layout, area, { pixels: tile!.data, samples: components.length }, region, planesFrom(to, plane));
    }
  });
}

async function readTile(
  { file, stream, parts, level }: Image,
  number: number,
  components: readonly number[],
): Promise<Samples> {
  const bytes: Buffer[] = [];
  for (const { start, end } of parts[number]!) {
    const part = Buffer.allocUnsafe(end - start);
    await file.read(part, start);
    bytes.push(part);
  }
  return await decodeTile(stream, number, bytes, { level, components });
}

/** Writes what a region has of a tile to the region's planes. */
function copyTile(
  layout: Jp2Layout,
  area: Rect,
  tile: { pixels: Samples; samples: number },
  region: Rect,
  to: PlaneTarget,
): void {
  const left = Math.max(area.x, region.x);
  const top = Math.max(area.y, region.y);
  const width = Math.min(area.x + area.width, region.x + region.width) - left;
  const height = Math.min(area.y + area.height, region.y + region.height) - top;
  const crop = { x: left - area.x, y: top - area.y, width, height };
  // Samples of less than 8 bits are expanded in place.
  const pixels = layout.bits < 8 ? tile.pixels.slice() : tile.pixels;
  const block = { ...tile, pixels, width: area.width };
  const tables = { palette: layout.palette, ycbcr: undefined };
  const target = { to, across: left - region.x, down: top - region.y };
  writeColours([block], crop, { ...layout, isInverted: false }, tables, target);
}
