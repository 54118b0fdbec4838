import { open } from 'node:fs/promises';
import { deflateSync } from 'node:zlib';
import type { Picture } from './lbp-definition.ts';

type AnyPicture = Picture<Uint8Array | Uint16Array>;

const short = 3;
const long = 4;

/**
 * Writes a gray TIFF in deflated tiles, one at a time: only one tile is in memory, so the image may be far larger.
 * `drawTile` gives the tile of `tilePx` by `tilePx` pixels that begins at column x and row y; pixels beyond the image
 * are ignored. Deflating takes most of the time, so the same tile object is deflated only once.
 */
export async function writeTiledTiff(
  path: string,
  { width, height }: { width: number; height: number },
  tilePx: number,
  drawTile: (x: number, y: number) => AnyPicture,
  bits: 8 | 16 = 8,
): Promise<void> {
  const file = await open(path, 'wx');
  try {
    const deflated = new Map<AnyPicture, Buffer>();
    const offsets: number[] = [];
    const lengths: number[] = [];
    let position = 8;
    for (let y = 0; y < height; y += tilePx) {
      for (let x = 0; x < width; x += tilePx) {
        const tile = drawTile(x, y);
        const bytes = deflated.get(tile) ?? deflateSync(bytesOf(tile.pixels), { level: 1 });
        deflated.set(tile, bytes);
        await file.write(bytes, 0, bytes.length, position);
        offsets.push(position);
        lengths.push(bytes.length);
        position += bytes.length;
      }
    }
    const directoryAt = position + (position % 2);
    await file.write(directory(directoryAt, width, height, bits, tilePx, offsets, lengths), 0, undefined, directoryAt);
    const header = Buffer.from('II*\0\0\0\0\0', 'latin1');
    header.writeUInt32LE(directoryAt, 4);
    await file.write(header, 0, header.length, 0);
  } finally {
    await file.close();
  }
}

const bytesOf = ({ buffer, byteOffset, byteLength }: AnyPicture['pixels']): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);

/** The directory, followed by the lists of offsets and lengths of the tiles. */
function directory(
  at: number,
  width: number,
  height: number,
  bits: number,
  tilePx: number,
  offsets: number[],
  lengths: number[],
): Buffer {
  const tiles = offsets.length;
  const entries = 10;
  const listsAt = at + 2 + 12 * entries + 4;
  // A single value is in the entry itself; several are in a list.
  const list = (values: number[], where: number): number => (tiles === 1 ? values[0]! : where);
  const rows: [tag: number, type: number, count: number, value: number][] = [
    [256, long, 1, width],
    [257, long, 1, height],
    [258, short, 1, bits], // a sample
    [259, short, 1, 8], // compression: deflate
    [262, short, 1, 1], // black is zero
    [277, short, 1, 1], // samples a pixel
    [322, long, 1, tilePx],
    [323, long, 1, tilePx],
    [324, long, tiles, list(offsets, listsAt)],
    [325, long, tiles, list(lengths, listsAt + 4 * tiles)],
  ];
  const bytes = Buffer.alloc(listsAt - at + (tiles === 1 ? 0 : 8 * tiles));
  bytes.writeUInt16LE(entries, 0);
  rows.forEach(([tag, type, count, value], i) => {
    const entry = 2 + 12 * i;
    bytes.writeUInt16LE(tag, entry);
    bytes.writeUInt16LE(type, entry + 2);
    bytes.writeUInt32LE(count, entry + 4);
    if (type === short) bytes.writeUInt16LE(value, entry + 8);
    else bytes.writeUInt32LE(value, entry + 8);
  });
  if (tiles > 1) {
    [...offsets, ...lengths].forEach((value, i) => {
      bytes.writeUInt32LE(value, listsAt - at + 4 * i);
    });
  }
  return bytes;
}
