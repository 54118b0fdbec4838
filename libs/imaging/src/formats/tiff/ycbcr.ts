/** The parameters that turn YCbCr of a TIFF into RGB: from its tags, or the defaults of the format. */
export interface YcbcrTags {
  /** Weights of red, green and blue in Y (YCbCrCoefficients). */
  weights: readonly number[];
  /** The codes of black and white for Y, Cb and Cr (ReferenceBlackWhite). */
  range: readonly number[];
}

/** The defaults of the format, from CCIR Recommendation 601-1. */
export const usualYcbcr: YcbcrTags = { weights: [0.299, 0.587, 0.114], range: [0, 255, 128, 255, 128, 255] };

/** Turns interleaved Y, Cb and Cr of 8 bits into red, green and blue, in place. */
export type YcbcrToRgb = (pixels: Uint8Array | Uint16Array) => void;

const clamp = (value: number, least: number, most: number): number => Math.min(most, Math.max(least, value));
const { fround } = Math;

/** A fixed-point number with 16 fractional bits, converted from a float as in libtiff. */
const fixed = (value: number): number => Math.trunc(clamp(value, 0, 2) * 65536 + 0.5);

/**
 * The conversion of libtiff (TIFFYCbCrtoRGB), with its single-precision tables and its rounding, so that pixels equal
 * those from tiff2rgba and GDAL.
 */
export function ycbcrToRgb({ weights, range }: YcbcrTags): YcbcrToRgb {
  const [red, green, blue] = weights.map(fround) as [number, number, number];
  const ends = range.map(fround);
  const f1 = fround(2 - fround(2 * red));
  const f3 = fround(2 - fround(2 * blue));
  const redOfCr = fixed(f1);
  const greenOfCr = -fixed(fround(fround(red * f1) / green));
  const blueOfCb = fixed(f3);
  const greenOfCb = -fixed(fround(fround(blue * f3) / green));
  /** Scales `code` from black … white to 0 … `most`. */
  const scaled = (code: number, black: number, white: number, most: number): number => {
    const span = fround(white - black) || 1;
    return Math.trunc(clamp(fround(fround((code - Math.trunc(black)) * most) / span), -4096, 4096));
  };
  const chroma = (i: number, at: 2 | 4): number =>
    scaled(i - 128, fround(ends[at]! - 128), fround(ends[at + 1]! - 128), 127);
  const codes = Array.from({ length: 256 }, (_, i) => i);
  const ys = Int32Array.from(codes, (i) => scaled(i, ends[0]!, ends[1]!, 255));
  const redsOfCr = Int32Array.from(codes, (i) => (redOfCr * chroma(i, 4) + 32768) >> 16);
  const bluesOfCb = Int32Array.from(codes, (i) => (blueOfCb * chroma(i, 2) + 32768) >> 16);
  const greensOfCr = Int32Array.from(codes, (i) => greenOfCr * chroma(i, 4));
  const greensOfCb = Int32Array.from(codes, (i) => greenOfCb * chroma(i, 2) + 32768);
  return (pixels) => {
    for (let i = 0; i < pixels.length; i += 3) {
      const y = ys[pixels[i]!]!;
      const cb = pixels[i + 1]!;
      const cr = pixels[i + 2]!;
      pixels[i] = clamp(y + redsOfCr[cr]!, 0, 255);
      pixels[i + 1] = clamp(y + ((greensOfCb[cb]! + greensOfCr[cr]!) >> 16), 0, 255);
      pixels[i + 2] = clamp(y + bluesOfCb[cb]!, 0, 255);
    }
  };
}
