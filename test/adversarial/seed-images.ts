import { readFile } from 'node:fs/promises';
import { parquetOf } from '@halogrid/sources/testing-parquet-files';
import sharp, { type Sharp } from 'sharp';
import { drawPicture } from '../picture-files.ts';

/** A good file from which mutants are made. */
export interface Seed {
  /** File name with the extension of its format. */
  name: string;
  bytes: Buffer;
}

/** Sizes that are not multiples of tiles of 64 px or of a codec's blocks. */
const width = 99;
const height = 77;

const fixture = (name: string): Promise<Buffer> =>
  readFile(new URL(`../../libs/imaging/fixtures/${name}`, import.meta.url));

/** Makes small images of every supported format. */
export async function makeSeedImages(): Promise<Seed[]> {
  const encoders: Record<string, (open: { rgb(): Sharp; gray(): Sharp; deep(): Sharp; deepGray(): Sharp }) => Sharp> = {
    'baseline-444.jpg': ({ rgb }) => rgb().jpeg({ chromaSubsampling: '4:4:4', optimiseCoding: false }),
    'baseline-420.jpg': ({ rgb }) => rgb().jpeg({ chromaSubsampling: '4:2:0' }),
    'progressive.jpg': ({ rgb }) => rgb().jpeg({ progressive: true }),
    'gray.jpg': ({ gray }) => gray().jpeg(),
    'rgb.png': ({ rgb }) => rgb().png(),
    'gray.png': ({ gray }) => gray().png(),
    'deep.png': ({ deep }) => deep().png(),
    'deep-gray.png': ({ deepGray }) => deepGray().png(),
    'palette.png': ({ rgb }) => rgb().png({ palette: true, colours: 32 }),
    'interlaced.png': ({ rgb }) => rgb().png({ progressive: true }),
    'lossy.webp': ({ rgb }) => rgb().webp({ quality: 70 }),
    'lossless.webp': ({ rgb }) => rgb().webp({ lossless: true }),
    'colours.gif': ({ rgb }) => rgb().gif({ colours: 64 }),
    'gray.gif': ({ gray }) => gray().gif(),
    'rgb.avif': ({ rgb }) => rgb().avif({ effort: 0 }),
    'gray.avif': ({ gray }) => gray().avif({ effort: 0, lossless: true }),
    'strips.tif': ({ rgb }) => rgb().tiff({ compression: 'none' }),
    'strips-lzw.tif': ({ gray }) => gray().tiff({ compression: 'lzw' }),
    'tiles-lzw.tif': ({ rgb }) => rgb().tiff({ ...tiles, compression: 'lzw', predictor: 'horizontal' }),
    'tiles-deflate.tif': ({ gray }) => gray().tiff({ ...tiles, compression: 'deflate' }),
    'tiles-jpeg.tif': ({ rgb }) => rgb().tiff({ ...tiles, compression: 'jpeg' }),
    'tiles-big.tif': ({ gray }) => gray().tiff({ ...tiles, compression: 'none', bigtiff: true }),
    'deep-strips.tif': ({ deepGray }) => deepGray().tiff({ compression: 'deflate', predictor: 'horizontal' }),
    'deep-tiles.tif': ({ deep }) => deep().tiff({ ...tiles, compression: 'lzw' }),
  };
  const [rgb, gray] = [drawColours(3), drawColours(1)];
  const [deep, deepGray] = [deepen(rgb), deepen(gray)];
  const open = {
    rgb: () => sharp(rgb, { raw: { width, height, channels: 3 } }),
    gray: () => sharp(gray, { raw: { width, height, channels: 1 } }).toColourspace('b-w'),
    deep: () => sharp(deep, { raw: { width, height, channels: 3 } }).toColourspace('rgb16'),
    deepGray: () => sharp(deepGray, { raw: { width, height, channels: 1 } }).toColourspace('grey16'),
  };
  const encoded = Object.entries(encoders).map(async ([name, encode]) => ({
    name,
    bytes: await encode(open).toBuffer(),
  }));
  const images = await Promise.all(encoded);
  return [
    ...images,
    { name: 'images.tar', bytes: tarOf(images.filter(({ name }) => /^(gray|palette)\.(png|jpg)$/.test(name))) },
    { name: 'images.parquet', bytes: parquetOf(rowsOf(images)) },
    { name: 'restart.jpg', bytes: await fixture('restart.jpg') },
    { name: 'tiles.jp2', bytes: await fixture('tiles.jp2') },
    { name: 'rgb.bmp', bytes: bitmap(24, rgb) },
    { name: 'gray.bmp', bytes: bitmap(8, gray) },
    { name: 'raw.pgm', bytes: raw('P5', 255, Buffer.from(gray)) },
    { name: 'raw.ppm', bytes: raw('P6', 255, Buffer.from(rgb)) },
    // In samples of 16 bits, the more significant byte comes first.
    { name: 'deep-raw.pgm', bytes: raw('P5', 65535, Buffer.from(deepGray.buffer).swap16()) },
    { name: 'deep-raw.ppm', bytes: raw('P6', 65535, Buffer.from(deep.buffer).swap16()) },
    { name: 'plain.pgm', bytes: raw('P2', 255, Buffer.from(rows(gray))) },
    { name: 'deep-plain.ppm', bytes: raw('P3', 65535, Buffer.from(rows(deep))) },
  ];
}

const tiles = { tile: true, tileWidth: 32, tileHeight: 32 } as const;

function drawColours(channels: 1 | 3): Uint8Array {
  const planes = Array.from({ length: channels }, (_, i) => drawPicture(width, height, 5 + i).pixels);
  return Uint8Array.from(
    { length: channels * width * height },
    (_, i) => planes[i % channels]![Math.floor(i / channels)]!,
  );
}

/** Samples of 16 bits whose lower bytes differ from the upper ones. */
const deepen = (samples: Uint8Array): Uint16Array =>
  Uint16Array.from(samples, (value, i) => value * 256 + ((i * 37) & 255));

const raw = (kind: string, maximum: number, samples: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${kind}\n# a comment\n${width} ${height}\n${maximum}\n`), samples]);

/** A BMP with rows from the bottom up, of multiples of four bytes; one of 8 bits has a palette of grays. */
function bitmap(bits: 8 | 24, samples: Uint8Array): Buffer {
  const rowBytes = (width * bits) / 8;
  const stride = Math.ceil(rowBytes / 4) * 4;
  const start = 54 + (bits === 8 ? 1024 : 0);
  const bytes = Buffer.alloc(start + stride * height);
  bytes.write('BM', 'latin1');
  const numbers = { 2: bytes.length, 10: start, 14: 40, 18: width, 22: height, 34: stride * height };
  for (const [at, value] of Object.entries(numbers)) bytes.writeUInt32LE(value, Number(at));
  bytes.writeUInt16LE(1, 26);
  bytes.writeUInt16LE(bits, 28);
  if (bits === 8) for (let i = 0; i < 256; i++) bytes.fill(i, 54 + 4 * i, 57 + 4 * i);
  for (let y = 0; y < height; y++) {
    bytes.set(samples.subarray(y * rowBytes, (y + 1) * rowBytes), start + (height - 1 - y) * stride);
  }
  return bytes;
}

const rowsOf = (images: readonly Seed[]) =>
  images.flatMap(({ name: path, bytes }) => (/^(gray|palette)\.(png|jpg)$/.test(path) ? [{ path, bytes }] : []));

/** A tar in the form of POSIX (ustar). */
function tarOf(members: readonly Seed[]): Buffer {
  const blocks = members.flatMap(({ name, bytes }) => {
    const header = Buffer.alloc(512);
    header.write(name, 'latin1');
    header.write('0000644\0', 100, 'latin1');
    header.write(`${bytes.length.toString(8).padStart(11, '0')}\0`, 124, 'latin1');
    header.write('00000000000\0        0', 136, 'latin1');
    header.write('ustar\x0000', 257, 'latin1');
    const sum = header.reduce((all, byte) => all + byte);
    header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
    return [header, bytes, Buffer.alloc(-bytes.length & 511)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

/** Samples as text in short lines. */
function rows(samples: Uint8Array | Uint16Array): string {
  const lines: string[] = [];
  for (let i = 0; i < samples.length; i += 11) lines.push(samples.subarray(i, i + 11).join(' '));
  return `${lines.join('\n')}\n`;
}
