import { emptySample, type SampleType, type Size } from '@halogrid/geometry';
import { bitsOf, type MapKind, type SampleArray, samplesOf } from '../layout/map-type.ts';

/** Adding this to a number of at most 2^50 and subtracting it rounds the number, halves to even, by IEEE 754. */
const roundingTerm = 1.5 * 2 ** 52;

const nan = 0x7fc00000;

export const halfOf = (px: number): number => Math.ceil(px / 2);

/**
 * Makes a plane of half the width and height: its sample (x, y) stands for the four samples at 2x, 2x + 1 and 2y, 2y +
 * 1. If a side is odd, the last column or row counts twice.
 *
 * For labels, the sample is the one at (2x, 2y). For values it is (a + b + c + d) / 4, top row first: for integers
 * rounded to the nearest, halves to even; for f32 computed as ((a + b) + (c + d)) * 0.25 in double precision and
 * rounded once. A NaN among the four gives NaN, always with the same bits; if `hasNoData`, so does the least
 * i16, which then stands for no value.
 */
export function halve(
  plane: Uint8Array,
  size: Size,
  sample: SampleType,
  kind: MapKind,
  half: Uint8Array,
  hasNoData = false,
): void {
  if (kind === 'labels') takeUpperLeft(bitsOf(plane, sample), size, bitsOf(half, sample));
  else if (sample === 'f32')
    averageFloats(samplesOf(plane, sample), size, samplesOf(half, sample), bitsOf(half, sample));
  else {
    const to = samplesOf(half, sample);
    averageIntegers(samplesOf(plane, sample), size, to);
    if (hasNoData && sample === 'i16') keepNoData(samplesOf(plane, sample), size, to);
  }
}

function takeUpperLeft(from: SampleArray, { width, height }: Size, to: SampleArray): void {
  for (let y = 0, into = 0; y < height; y += 2) {
    for (let at = y * width, end = at + width; at < end; at += 2) to[into++] = from[at]!;
  }
}

function averageIntegers(from: SampleArray, { width, height }: Size, to: SampleArray): void {
  for (let y = 0, into = 0; y < height; y += 2) {
    let above = y * width;
    let below = y + 1 < height ? above + width : above;
    for (const end = above + width - 1; above < end; above += 2, below += 2) {
      const sum = from[above]! + from[above + 1]! + (from[below]! + from[below + 1]!);
      to[into++] = sum * 0.25 + roundingTerm - roundingTerm;
    }
    if (width % 2) to[into++] = (from[above]! + from[below]!) * 0.5 + roundingTerm - roundingTerm;
  }
}

/** Puts the sample for no value wherever one of the four is it. */
function keepNoData(from: SampleArray, { width }: Size, to: SampleArray): void {
  const halfWidth = halfOf(width);
  for (let at = from.indexOf(emptySample.i16); at >= 0; at = from.indexOf(emptySample.i16, at + 1)) {
    to[(Math.floor(at / width) >> 1) * halfWidth + ((at % width) >> 1)] = emptySample.i16;
  }
}

function averageFloats(from: SampleArray, { width, height }: Size, to: SampleArray, toBits: SampleArray): void {
  for (let y = 0, into = 0; y < height; y += 2) {
    let above = y * width;
    let below = y + 1 < height ? above + width : above;
    for (const end = above + width; above < end; above += 2, below += 2, into++) {
      const right = above + 1 < end ? 1 : 0;
      const mean = (from[above]! + from[above + right]! + (from[below]! + from[below + right]!)) * 0.25;
      to[into] = mean;
      if (Number.isNaN(mean)) toBits[into] = nan;
    }
  }
}
