import type { Size } from '@halogrid/imaging';

/** Types of TIFF values. */
const short = 3;
const long = 4;

/** Interleaved 8-bit RGB as a little-endian TIFF of one uncompressed strip. */
export function uncompressedTiff({ width, height }: Size, rgb: Uint8Array): Buffer {
  const entries: [tag: number, type: number, count: number, value: number][] = [
    [256, long, 1, width],
    [257, long, 1, height],
    [258, short, 3, 0], // bits a sample: where they are, filled in below
    [259, short, 1, 1], // no compression
    [262, short, 1, 2], // RGB
    [273, long, 1, 0], // where the pixels are, filled in below
    [277, short, 1, 3], // samples a pixel
    [278, long, 1, height], // rows a strip
    [279, long, 1, rgb.length],
  ];
  const directoryAt = 8;
  const bitsAt = directoryAt + 2 + entries.length * 12 + 4;
  const pixelsAt = bitsAt + 6;
  entries[2]![3] = bitsAt;
  entries[5]![3] = pixelsAt;

  const file = Buffer.alloc(pixelsAt + rgb.length);
  file.write('II*\0', 'latin1');
  file.writeUInt32LE(directoryAt, 4);
  file.writeUInt16LE(entries.length, directoryAt);
  entries.forEach(([tag, type, count, value], i) => {
    const at = directoryAt + 2 + i * 12;
    file.writeUInt16LE(tag, at);
    file.writeUInt16LE(type, at + 2);
    file.writeUInt32LE(count, at + 4);
    file.writeUInt32LE(value, at + 8);
  });
  for (let i = 0; i < 3; i++) file.writeUInt16LE(8, bitsAt + 2 * i);
  file.set(rgb, pixelsAt);
  return file;
}
