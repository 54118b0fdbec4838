import type { Size } from '@halogrid/geometry';
import { openImage } from '@halogrid/imaging';
import { loadSharp } from '@halogrid/imaging/sharp';
import { pngOptions } from './encodings.ts';

/** A picture on a sheet. */
export interface SheetTile {
  /** URI of an image; absent where there is none to show. */
  uri?: string;
  /** Lines below it, cut where they are too long. */
  caption: readonly string[];
}

export interface SheetRow {
  title: string;
  tiles: readonly SheetTile[];
}

const tile = { width: 200, height: 150, gap: 12 };
const line = { height: 16, chars: 28 };
const titleHeight = 34;

/** Images of more pixels are not shown: they would be decoded whole for a thumbnail. */
const maxPixels = 2 ** 26;

/** Tiles in a row of the sheet. */
const columns = 6;

/**
 * Draws rows of thumbnails with captions as a PNG. An image that cannot be shown leaves its place empty: the caption names it. Text
 * is drawn with the fonts of the machine, and is missing where it has none.
 */
export async function contactSheet(rows: readonly SheetRow[]): Promise<Uint8Array> {
  const sharp = await loadSharp();
  const captionHeight =
    line.height * Math.max(0, ...rows.flatMap(({ tiles }) => tiles.map(({ caption }) => caption.length)));
  const step = { x: tile.width + tile.gap, y: tile.height + captionHeight + tile.gap };
  const width = tile.gap + columns * step.x;
  const layers: { input: Buffer; left: number; top: number }[] = [];
  const texts: string[] = [];
  let top = tile.gap;
  for (const { title, tiles } of rows) {
    texts.push(text({ x: tile.gap, y: top + titleHeight - 14, className: 'title' }, shorten(title, 3 * line.chars)));
    top += titleHeight;
    for (const [i, { uri, caption }] of tiles.entries()) {
      const at = { x: tile.gap + (i % columns) * step.x, y: top + Math.floor(i / columns) * step.y };
      texts.push(`<rect x="${at.x}" y="${at.y}" width="${tile.width}" height="${tile.height}"/>`);
      caption.forEach((words, n) => {
        const y = at.y + tile.height + (n + 1) * line.height - 3;
        texts.push(text({ x: at.x, y, className: 'caption' }, shorten(words, line.chars)));
      });
      const picture = uri === undefined ? undefined : await thumbnail(uri);
      if (!picture) continue;
      const left = at.x + Math.floor((tile.width - picture.width) / 2);
      layers.push({ input: picture.png, left, top: at.y + Math.floor((tile.height - picture.height) / 2) });
    }
    top += Math.ceil(tiles.length / columns) * step.y;
  }
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${top}"><style>${style}</style>${texts.join('')}</svg>`;
  const page = sharp({ create: { width, height: top, channels: 3, background: 'white' } });
  return page
    .composite([{ input: Buffer.from(svg), left: 0, top: 0 }, ...layers])
    .png(pngOptions)
    .toBuffer();
}

const style = `text { font-family: "DejaVu Sans", Arial, sans-serif; fill: #374151 } .title { font-size: 15px; font-weight: 600 }
  .caption { font-size: 11px } rect { fill: #f3f4f6 }`;

const text = ({ x, y, className }: { x: number; y: number; className: string }, words: string): string =>
  `<text x="${x}" y="${y}" class="${className}">${words.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`)}</text>`;

/** The end tells more of a name than its beginning. */
const shorten = (words: string, chars: number): string =>
  words.length <= chars ? words : `…${words.slice(1 - chars)}`;

/** The image at that URI, as large as fits a tile; undefined where it cannot be read or is too large. */
async function thumbnail(uri: string): Promise<({ png: Buffer } & Size) | undefined> {
  try {
    const image = await openImage(uri);
    try {
      const { width, height, pixel } = image;
      if (width * height > maxPixels) return undefined;
      const bytes = pixel === 'u8' ? 1 : 2;
      const plane = width * height;
      const planes = new Uint8Array(3 * plane * bytes);
      const target = {
        bytes: planes,
        offset: 0,
        stride: width * bytes,
        channels: 'rgb' as const,
        planeBytes: plane * bytes,
      };
      await image.decode({ x: 0, y: 0, width, height }, target);
      const pixels = new Uint8Array(3 * plane);
      for (let channel = 0; channel < 3; channel++) {
        // Of 16 bits the upper 8 are shown.
        const from = channel * plane * bytes + bytes - 1;
        for (let i = 0; i < plane; i++) pixels[3 * i + channel] = planes[from + i * bytes]!;
      }
      const sharp = await loadSharp();
      const resized = sharp(pixels, { raw: { width, height, channels: 3 } }).resize(tile.width, tile.height, {
        fit: 'inside',
      });
      const { data, info } = await resized.png(pngOptions).toBuffer({ resolveWithObject: true });
      return { png: data, width: info.width, height: info.height };
    } finally {
      await image.close();
    }
  } catch {
    return undefined;
  }
}
