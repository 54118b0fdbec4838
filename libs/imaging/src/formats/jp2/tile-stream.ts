import type { Rect } from '@halogrid/geometry';
import { type Codestream, markers } from './codestream.ts';
import { partHeadBytes, readPartHead } from './tile-parts.ts';

/** A tile on the reference grid: from x0 up to x1. */
interface Tile {
  x0: number;
  y0: number;
  x1: number;
  y1: number;
}

export function tileOf({ x0, y0, x1, y1, tiles }: Codestream, number: number): Tile {
  const left = tiles.x + (number % tiles.columns) * tiles.width;
  const top = tiles.y + Math.floor(number / tiles.columns) * tiles.height;
  return {
    x0: Math.max(left, x0),
    y0: Math.max(top, y0),
    x1: Math.min(left + tiles.width, x1),
    y1: Math.min(top + tiles.height, y1),
  };
}

/** Where that part of the grid lies in an image whose sides are halved `level` times. */
export function areaAt({ x0, y0, x1, y1 }: Tile, origin: { x0: number; y0: number }, level: number): Rect {
  const scale = 2 ** level;
  const [left, top] = [Math.ceil(x0 / scale), Math.ceil(y0 / scale)];
  return {
    x: left - Math.ceil(origin.x0 / scale),
    y: top - Math.ceil(origin.y0 / scale),
    width: Math.ceil(x1 / scale) - left,
    height: Math.ceil(y1 / scale) - top,
  };
}

/** The numbers of the tiles that a region touches, in an image whose sides are halved `level` times. */
export function tilesAt(stream: Codestream, { x, y, width, height }: Rect, level: number): number[] {
  const { x0, y0, tiles } = stream;
  const scale = 2 ** level;
  // Pixel u of the grid of a level is at u * scale of the reference grid.
  const [left, top] = [Math.ceil(x0 / scale) + x, Math.ceil(y0 / scale) + y];
  const column = (u: number): number => Math.floor((u * scale - tiles.x) / tiles.width);
  const row = (v: number): number => Math.floor((v * scale - tiles.y) / tiles.height);
  const numbers: number[] = [];
  for (let j = row(top); j <= row(top + height - 1); j++) {
    for (let i = column(left); i <= column(left + width - 1); i++) numbers.push(j * tiles.columns + i);
  }
  return numbers;
}

/**
 * A codestream of that tile alone. Its place on the reference grid stays, so that precincts and blocks of codes stay,
 * too. Its samples are unsigned: signed ones have 2^(bits - 1) added. `parts`: the bytes of the tile's parts. Undefined
 * if these are of another tile.
 */
export function tileStream(stream: Codestream, number: number, parts: readonly Buffer[]): Buffer | undefined {
  const { tiles, bits, components, chroma, segments } = stream;
  const { x0, y0, x1, y1 } = tileOf(stream, number);
  const left = tiles.x + (number % tiles.columns) * tiles.width;
  const top = tiles.y + Math.floor(number / tiles.columns) * tiles.height;
  const head = Buffer.alloc(42 + 3 * components, 1);
  head.writeUInt32BE(0xff4fff51, 0);
  head.writeUInt16BE(38 + 3 * components, 4);
  head.writeUInt16BE(0, 6);
  for (const [i, value] of [x1, y1, x0, y0, tiles.width, tiles.height, left, top].entries()) {
    head.writeUInt32BE(value, 8 + 4 * i);
  }
  head.writeUInt16BE(components, 40);
  for (let i = 0; i < components; i++) head.set([bits - 1, ...(i === 0 ? [1, 1] : chroma)], 42 + 3 * i);
  const pieces: Uint8Array[] = [head, ...segments];
  for (const part of parts) {
    if (readPartHead(part)?.tile !== number) return undefined;
    const partHead = Buffer.from(part.subarray(0, partHeadBytes));
    partHead.writeUInt16BE(0, 4);
    partHead.writeUInt32BE(part.length, 6);
    pieces.push(partHead, part.subarray(partHeadBytes));
  }
  return Buffer.concat([...pieces, Buffer.from([0xff, markers.end])]);
}
