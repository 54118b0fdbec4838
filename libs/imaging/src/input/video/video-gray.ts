/*
 * The 8-bit gray of a video is its luma: as it is stored where it has the full range, and expanded from 16…235 to 0…255
 * where it has not, by the integers with which FFmpeg's `-pix_fmt gray` does it. FFmpeg itself is not asked, so the result
 * does not depend on its version, of which some round otherwise.
 */

/** Planar or semi-planar formats whose first plane is luma of 8 bits. */
const lumaFormats = new Set([
  ...['yuv420p', 'yuv422p', 'yuv444p', 'yuv440p', 'yuv411p', 'yuv410p', 'nv12', 'nv21', 'nv16', 'nv24', 'gray'],
  ...['yuvj420p', 'yuvj422p', 'yuvj444p', 'yuvj440p', 'yuvj411p'],
]);

/** One sentence where the luma of a pixel format cannot be had in 8 bits. */
export function whyNoGray(format: string): string | undefined {
  if (lumaFormats.has(format)) return undefined;
  const bits = /p(9|1\d)(le|be)$|p0(10|12|16)/.exec(format);
  return bits
    ? `Video of more than 8 bits a sample (${format}) is not supported, and never silently reduced to 8 bits`
    : `Video in the pixel format ${format || 'that FFmpeg cannot tell'} is not supported: it has no luma of 8 bits`;
}

/** Whether luma of a format, with the range that its stream states, is 0…255. */
export function isFullRange(format: string, statesFull: boolean): boolean {
  return statesFull || format === 'gray' || format.startsWith('yuvj');
}

/**
 * Gray of each value of limited range: in 15 bits, (min(Y, 30189) 19077 - 39057361) >> 14, then rounded to 8 and
 * clipped, as swscale of FFmpeg 5.1 has it.
 */
export const expandedLuma: Uint8Array = Uint8Array.from({ length: 256 }, (_, luma) => {
  const wide = (Math.min(luma << 7, 30189) * 19077 - 39057361) >> 14;
  return Math.max(0, Math.min(255, (wide + 64) >> 7));
});

/** Copies `height` rows of luma, `stride` bytes apart, without gaps into `to`, expanded where asked for. */
export function copyLuma(
  from: Uint8Array,
  stride: number,
  { width, height }: { width: number; height: number },
  isFull: boolean,
  to: Uint8Array,
): void {
  for (let y = 0; y < height; y++) {
    const row = from.subarray(y * stride, y * stride + width);
    const start = y * width;
    if (isFull) to.set(row, start);
    else for (let x = 0; x < width; x++) to[start + x] = expandedLuma[row[x]!]!;
  }
}
