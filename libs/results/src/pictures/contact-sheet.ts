import { loadSharp } from '@halogrid/imaging/sharp';
import { pngOptions } from './encodings.ts';
import { type ShownSource, thumbnailKey, thumbnails } from './thumbnails.ts';

/** A picture on a sheet. */
export interface SheetTile {
  shown: ShownSource;
  /** Lines below it, cut if they are too long. */
  caption: readonly string[];
}

export interface SheetRow {
  title: string;
  tiles: readonly SheetTile[];
}

const tile = { width: 200, height: 150, gap: 12 };
const line = { height: 16, chars: 28 };
const titleHeight = 34;

/** Tiles in a row of the sheet. */
const columns = 6;

/**
 * Draws rows of thumbnails with captions as a PNG. The place of a source that cannot be shown stays empty; the caption
 * names the source. Text is drawn with the fonts of the machine, and is missing if the machine has none.
 */
export async function contactSheet(rows: readonly SheetRow[]): Promise<Uint8Array> {
  const sharp = await loadSharp();
  const captionHeight =
    line.height * Math.max(0, ...rows.flatMap(({ tiles }) => tiles.map(({ caption }) => caption.length)));
  const step = { x: tile.width + tile.gap, y: tile.height + captionHeight + tile.gap };
  const width = tile.gap + columns * step.x;
  const layers: { input: Buffer; left: number; top: number }[] = [];
  const texts: string[] = [];
  const pictures = await thumbnails(
    rows.flatMap(({ tiles }) => tiles.map(({ shown }) => shown)),
    tile,
  );
  let top = tile.gap;
  for (const { title, tiles } of rows) {
    texts.push(text({ x: tile.gap, y: top + titleHeight - 14, className: 'title' }, shorten(title, 3 * line.chars)));
    top += titleHeight;
    for (const [i, { shown, caption }] of tiles.entries()) {
      const at = { x: tile.gap + (i % columns) * step.x, y: top + Math.floor(i / columns) * step.y };
      texts.push(`<rect x="${at.x}" y="${at.y}" width="${tile.width}" height="${tile.height}"/>`);
      caption.forEach((words, n) => {
        const y = at.y + tile.height + (n + 1) * line.height - 3;
        texts.push(text({ x: at.x, y, className: 'caption' }, shorten(words, line.chars)));
      });
      const picture = pictures.get(thumbnailKey(shown));
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

/** Keeps the end of a text, because the end of a name says more than its beginning. */
const shorten = (words: string, chars: number): string =>
  words.length <= chars ? words : `…${words.slice(1 - chars)}`;
