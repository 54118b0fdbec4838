/*
 * Red, green and blue of a video, defined to the bit by integers. They give the same as FFmpeg 5.1 with '-sws_flags
 * bilinear+accurate_rnd+full_chroma_int' as planes of colour (gbrp, gbrp10le, gbrp12le). FFmpeg itself is not used, so
 * the result does not depend on its version.
 */

import { lumaFormat } from './video-gray.ts';

/** How chroma lies in a picture. */
export interface ChromaFormat {
  /**
   * Whether a sample of chroma is for two columns, and for two rows, of luma; the last column or row of an odd number
   * has a sample of its own.
   */
  isHalfWide: boolean;
  isHalfHigh: boolean;
  /** Whether U and V take turns in one plane; `isSwapped`: V comes first. */
  isInPairs: boolean;
  isSwapped: boolean;
}

/**
 * What a sample of V adds to red and green, and a sample of U to green and blue, in 65536ths of the limited range;
 * negative for green.
 */
export interface ColourMatrix {
  redV: number;
  blueU: number;
  greenU: number;
  greenV: number;
}

const bt601: ColourMatrix = { redV: 104597, blueU: 132201, greenU: -25675, greenV: -53279 };
const bt709: ColourMatrix = { redV: 117489, blueU: 138438, greenU: -13975, greenV: -34925 };
const fcc: ColourMatrix = { redV: 104448, blueU: 132798, greenU: -24759, greenV: -53109 };
const smpte240: ColourMatrix = { redV: 117579, blueU: 136230, greenU: -16907, greenV: -35559 };
const bt2020: ColourMatrix = { redV: 110013, blueU: 140363, greenU: -12277, greenV: -42626 };

/**
 * Matrices by the number that a stream states (ISO/IEC 23091-2); 2 means that none is stated, and 9 is BT.2020 without
 * constant luminance.
 */
const matrices: Partial<Record<number, ColourMatrix>> = {
  1: bt709,
  2: bt601,
  4: fcc,
  5: bt601,
  6: bt601,
  7: smpte240,
  9: bt2020,
};

/** The matrix of that number; undefined if it is not supported. */
export const matrixOf = (colourSpace: number): ColourMatrix | undefined => matrices[colourSpace];

export const whyNoMatrix = (colourSpace: number): string =>
  `Colour of video in the colour space ${colourSpace} (ISO/IEC 23091-2) is not supported: BT.601, BT.709 and BT.2020 are, and gray with channels=gray`;

const inPlanes = /^yuvj?4(20|22|44)p(?:9le|10le|12le)?$/;
const inPairs = /^(?:nv(?:12|21|16|24)|p[024]1[02]le)$/;

/**
 * How chroma lies in a pixel format, by FFmpeg's name; undefined if it has no chroma of 8 to 12 bits at places that are
 * known here.
 */
export function chromaFormat(name: string): ChromaFormat | undefined {
  const sampling = inPlanes.exec(name)?.[1];
  if (sampling) {
    return { isHalfWide: sampling !== '44', isHalfHigh: sampling === '20', isInPairs: false, isSwapped: false };
  }
  if (!inPairs.test(name)) return undefined;
  const isFull = name === 'nv24' || name.startsWith('p4');
  const isHalfHigh = name === 'nv12' || name === 'nv21' || name.startsWith('p0');
  return { isHalfWide: !isFull, isHalfHigh, isInPairs: true, isSwapped: name === 'nv21' };
}

export const whyNoColour = (format: string): string =>
  `Colour of video in the pixel format ${format} is not supported: gray is, with channels=gray`;

/** A format without chroma, in which red, green and blue are equal. */
export const isGrayFormat = (name: string): boolean => lumaFormat(name) !== undefined && name.startsWith('gray');

/** Integers that samples of luma, and of U and V around their middle, are multiplied by. */
export interface ColourFactors extends ColourMatrix {
  /** The factor of luma, less `black`. */
  luma: number;
  /** Luma of black, in samples of that many bits. */
  black: number;
}

/**
 * The colour of samples Y, and chroma U and V as 16 times their means, which are weighed by 9, 3, 3 and 1 if there
 * are fewer of them than of luma:
 *
 *     red = (luma 16 (Y - black) + redV (V - 2^(bits+3)) + 2^16) >> 17, clipped to 0…2^bits - 1
 */
export function colourFactors(matrix: ColourMatrix, isFull: boolean, bits: number): ColourFactors {
  const chroma = (factor: number) => scaled(isFull ? Math.trunc((factor * 224) / 255) : factor);
  return {
    luma: scaled(isFull ? 65536 : Math.trunc((65536 * 255) / 219)),
    black: isFull ? 0 : 16 << (bits - 8),
    redV: chroma(matrix.redV),
    blueU: chroma(matrix.blueU),
    greenU: chroma(matrix.greenU),
    greenV: chroma(matrix.greenV),
  };
}

/** From 65536 to 8192, rounded. */
const scaled = (factor: number): number => Math.floor(factor / 8 + 0.5);
