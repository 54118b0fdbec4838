/**
 * What of an image becomes pixels. Only TIFF and JPEG 2000 have samples to choose from; they, OME-Zarr and slides have
 * levels. Other images are refused.
 */
export interface ReadOptions {
  /** The bands that are read, each as gray; absent: the gray or the colours of the image. */
  band?: AskedBands | undefined;
  /** Absent: samples are pixels as they are stored. */
  scale?: SampleScale | undefined;
  /** The level of pyramids; absent: the largest. An image without levels has only the largest. */
  level?: AskedLevel | undefined;
  /**
   * The page of a TIFF, or the frame of an animated GIF or WebP, from 1; absent: the first, and an animated GIF is
   * refused. Other images have one page.
   */
  page?: number | undefined;
}

/** Numbers of bands, counted from 1. `all`: the image must have these bands, and no others. */
export interface AskedBands {
  numbers: readonly number[];
  all?: boolean | undefined;
}

/** The level of a pyramid that is asked for: its number, 0 for the largest, or the most micrometres a pixel. */
export type AskedLevel = { number: number } | { microns: number };

export const sayAsked = (level: AskedLevel): string =>
  'number' in level ? `level ${level.number}` : `at most ${level.microns} micrometres a pixel`;

/** Which sample becomes 0, which becomes the largest pixel, and the bits of a pixel: 8 or 16. */
export interface SampleScale {
  min: number;
  max: number;
  bits: number;
}

/** A name for what is read: images that are read with other options have other pixels. */
export function readName({ band, scale, level, page }: ReadOptions): string {
  const parts = [
    band && `${band.all ? 'all ' : ''}bands ${band.numbers.join(',')}`,
    scale && `scale ${scale.min},${scale.max},${scale.bits}`,
    level && sayAsked(level),
    page && `page ${page}`,
  ];
  return parts.filter(Boolean).join(' ');
}
