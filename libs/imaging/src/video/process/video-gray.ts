/*
 * The gray of a video is its luma, in as many bits as it is stored: as it is where it has the full range, and expanded from the
 * limited one where it has not, by the integers with which FFmpeg's `-pix_fmt gray`, `gray10le` and so on do it. FFmpeg
 * itself is not asked, so the result does not depend on its version, of which some round otherwise.
 */

import { type PixelType, sampleBytes } from '@halogrid/geometry';
import { asPixels } from '../../planes/plane-target.ts';

/** How luma lies in the first plane of a pixel format. */
export interface LumaFormat {
  /** Bits of a sample: 8, or 9 to 14, which are in the lowest bits of 16, above `shift` bits that say nothing. */
  bits: number;
  shift: number;
  pixel: PixelType;
  /** The format says so itself, whatever its stream states. */
  isFullRange: boolean;
}

/** Planar or semi-planar formats whose first plane is luma of 8 bits. */
const of8Bits = new Set([
  ...['yuv420p', 'yuv422p', 'yuv444p', 'yuv440p', 'yuv411p', 'yuv410p', 'nv12', 'nv21', 'nv16', 'nv24', 'gray'],
  ...['yuvj420p', 'yuvj422p', 'yuvj444p', 'yuvj440p', 'yuvj411p'],
]);

/** Formats of more bits, in the order of this machine's bytes; the third kind is what decoders in hardware give. */
const ofMoreBits = /^(?:(gray)|yuv4(?:20|22|44|40)p)(9|10|12|14)le$/;
const inHighBits = /^p[024]1([02])le$/;

/** Undefined where a pixel format, by FFmpeg's name, has no luma of 8 to 14 bits in its first plane. */
export function lumaFormat(name: string): LumaFormat | undefined {
  if (of8Bits.has(name))
    return { bits: 8, shift: 0, pixel: 'u8', isFullRange: name === 'gray' || name.startsWith('yuvj') };
  const [, gray, lowBits] = ofMoreBits.exec(name) ?? [];
  if (lowBits) return { bits: Number(lowBits), shift: 0, pixel: 'u16', isFullRange: gray !== undefined };
  const [, digit] = inHighBits.exec(name) ?? [];
  const bits = 10 + Number(digit);
  return digit ? { bits, shift: 16 - bits, pixel: 'u16', isFullRange: false } : undefined;
}

export const whyNoGray = (format: string): string =>
  `Video in the pixel format ${format || 'that FFmpeg cannot tell'} is not supported: it has no luma of 8 to 14 bits`;

/**
 * Gray of each value of limited range, of 8 to 14 bits: in 15 bits, (min(Y, 30189) 19077 - 39057361) >> 14, then rounded to as
 * many as it had and clipped, as swscale of FFmpeg 5.1 has it.
 */
export function expandedLuma(bits: number): Uint16Array {
  const below15 = 15 - bits;
  const most = 2 ** bits - 1;
  return Uint16Array.from({ length: 2 ** bits }, (_, luma) => {
    const wide = (Math.min(luma << below15, 30189) * 19077 - 39057361) >> 14;
    return Math.max(0, Math.min(most, (wide + (1 << (below15 - 1))) >> below15));
  });
}

const tables = new Map<number, Uint16Array>();

function tableOf(bits: number): Uint16Array {
  const table = tables.get(bits) ?? expandedLuma(bits);
  tables.set(bits, table);
  return table;
}

/** Copies `height` rows of luma, `stride` bytes apart, without gaps into `to`, expanded where it is not of the full range. */
export function copyLuma(
  from: Uint8Array,
  stride: number,
  { width, height }: { width: number; height: number },
  { bits, shift, pixel }: LumaFormat,
  isFull: boolean,
  to: Uint8Array,
): void {
  const rowBytes = width * sampleBytes[pixel];
  const table = tableOf(bits);
  for (let y = 0; y < height; y++) {
    const bytes = from.subarray(y * stride, y * stride + rowBytes);
    if (isFull && shift === 0) {
      to.set(bytes, y * rowBytes);
      continue;
    }
    const row = asPixels(bytes, pixel);
    const target = asPixels(to.subarray(y * rowBytes, (y + 1) * rowBytes), pixel);
    for (let x = 0; x < width; x++) {
      const luma = row[x]! >> shift;
      target[x] = isFull ? luma : table[luma]!;
    }
  }
}
