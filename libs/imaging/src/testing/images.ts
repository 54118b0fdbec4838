import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { crc32, deflateSync } from 'node:zlib';
import { type PixelType, sampleBytes } from '@halogrid/geometry';
import { type OpenImageOptions, openImage } from '../open-image.ts';
import type { OpenImage } from '../planes/image.ts';
import { type PlaneTarget, planesOf } from '../planes/plane-target.ts';

const fixtures = new URL('../../fixtures/', import.meta.url);

/** The images of the fixtures folder that can be decoded, with what other programs decode them to. */
export const expectedFixtures: Record<
  string,
  {
    width: number;
    height: number /** SHA-256 of the luma. */;
    sha256: string /** SHA-256 of the three planes. */;
    rgbSha256: string;
  }
> = JSON.parse(readFileSync(new URL('expected.json', fixtures), 'utf8'));

export const fixtureUri = (name: string): string => new URL(name, fixtures).href;
export const fixtureBytes = (name: string): Buffer => readFileSync(new URL(name, fixtures));

export type Channels = PlaneTarget['channels'];

/** The planes of a whole image, one after another, row by row without padding. */
export async function decodeWhole(
  uri: string,
  channels: Channels = 'gray',
  options?: OpenImageOptions,
): Promise<Uint8Array> {
  const image = await openImage(uri, options);
  try {
    return await decodeOpen(image, channels);
  } finally {
    await image.close();
  }
}

export async function decodeOpen(image: OpenImage, channels: Channels = 'gray'): Promise<Uint8Array> {
  const { width, height } = image;
  const target = planes(width, height, channels, noGaps, image.pixel);
  await image.decode({ x: 0, y: 0, width, height }, target);
  return target.bytes;
}

/** The number of bytes between pixels to which nothing is written. */
export interface Gaps {
  before: number;
  /** After each row. */
  padding: number;
  /** After each plane. */
  between: number;
}

export const noGaps: Gaps = { before: 0, padding: 0, between: 0 };

/** A target of exactly the size that it needs, with 77 in every byte. */
export function planes(
  width: number,
  height: number,
  channels: Channels,
  gaps = noGaps,
  pixel: PixelType = 'u8',
): PlaneTarget {
  const stride = width * sampleBytes[pixel] + gaps.padding;
  const planeBytes = height * stride + gaps.between;
  const bytes = new Uint8Array(gaps.before + planeBytes * planesOf(channels)).fill(77);
  return { bytes, offset: gaps.before, stride, channels, planeBytes };
}

/** Compares a whole target, gaps included, with what it must be if pixel (x, y) of plane p is pixel(p, x, y). */
export function assertPlanes(
  target: PlaneTarget,
  width: number,
  height: number,
  pixel: (plane: number, x: number, y: number) => number,
  message?: string,
  type: PixelType = 'u8',
): void {
  const { offset, stride, channels, planeBytes } = target;
  const expected = Buffer.alloc(target.bytes.length, 77);
  const unit = sampleBytes[type];
  for (let plane = 0; plane < planesOf(channels); plane++) {
    for (let y = 0; y < height; y++) {
      const row = offset + plane * planeBytes + y * stride;
      for (let x = 0; x < width; x++) expected.writeUIntLE(pixel(plane, x, y), row + x * unit, unit);
    }
  }
  assert.equal(Buffer.compare(target.bytes, expected), 0, message);
}

export const lumaOf = (r: number, g: number, b: number): number => (19595 * r + 38470 * g + 7471 * b + 32768) >>> 16;

export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** A PNG of a bit a pixel; `rows` have a byte 0 in front of each. */
export function oneBitPng(width: number, height: number, rows: Uint8Array): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 1;
  const chunks = { IHDR: header, IDAT: deflateSync(rows, { level: 1 }), IEND: Buffer.alloc(0) };
  const parts = Object.entries(chunks).flatMap(([name, data]) => {
    const body = Buffer.concat([Buffer.from(name), data]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(body));
    return [length, body, sum];
  });
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), ...parts]);
}
