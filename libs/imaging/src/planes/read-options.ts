/** What of an image's samples become pixels. Only TIFF has samples to choose from; other images are refused. */
export interface ReadOptions {
  /** The band that is read as gray, counted from 1; absent: the gray or the colours of the image. */
  band?: { number: number } | undefined;
  /** Absent: samples are pixels as they are stored. */
  scale?: SampleScale | undefined;
}

/** Which sample becomes 0, which becomes the largest pixel, and the bits of a pixel: 8 or 16. */
export interface SampleScale {
  min: number;
  max: number;
  bits: number;
}

/** A name for what is read: images that are read with other options have other pixels. */
export function readName({ band, scale }: ReadOptions): string {
  return [band && `band ${band.number}`, scale && `scale ${scale.min},${scale.max},${scale.bits}`].join(' ').trim();
}
