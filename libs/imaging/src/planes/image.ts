import type { PixelType, Rect } from '@halogrid/geometry';
import type { Format } from '@halogrid/sources';
import type { CaptureTime } from '@halogrid/sources/capture-time';
import type { Place } from './place.ts';
import type { PlaneTarget } from './plane-target.ts';

/** The values that samples of an image can have. */
export interface SampleRange {
  least: number;
  most: number;
  /** Whether there are fractions and NaN, which always stands for no value. */
  isReal: boolean;
}

/** An image whose header is read. Its pixels are as stored: no EXIF rotation, no colour profile, alpha left out. */
export interface OpenImage {
  readonly format: Format;
  readonly width: number;
  readonly height: number;
  /** `u8` for 1 to 8 bits a sample, `u16` for more; values are as stored, never scaled. */
  readonly pixel: PixelType;
  /**
   * A name for its file as it was opened, which changes when the file is written to: see `localVersion`,
   * `remoteVersion`, `slideVersion`.
   */
  readonly version?: string;
  /** When it was captured, as its Exif states it; absent if it does not. */
  readonly captured?: CaptureTime;
  /** Where it lies on the Earth, if it is a GeoTIFF. */
  readonly place?: Place | undefined;
  /** How many bands it has; absent if its samples are no bands. */
  readonly bands?: number | undefined;
  /** Planes of gray: the number of bands that are read, if there are several. */
  readonly grayPlanes?: number | undefined;
  /** The sample that stands for no value, as its file states it; absent if no sample can have it. */
  readonly noData?: number;
  /** The values that its samples can have; absent if its pixels are its samples, or are made of bytes. */
  readonly samples?: SampleRange | undefined;
  /** Its pixels are computed from samples of other values, which alone tell the pixels without a value. */
  readonly isConverted?: true;
  /** Whether a region is read without decoding the rest. */
  readonly readsRegions: boolean;
  /** Encoded bytes read from the source so far: for a remote source, the bytes that came over the network. */
  readonly inputBytes: number;
  /**
   * A sentence that says what was removed from the file because it does not belong to the image, what a missing part
   * was taken for, or which other pictures were not read. Absent if there is nothing to say, and until the image has
   * been decoded or copied.
   */
  readonly mended?: string | undefined;
  /**
   * Decodes the luma, or the red, green and blue, of `region` into the planes of `to`; the region must be the
   * whole image unless `readsRegions`. A pixel is marked in `to.noData` if all its samples that are read have the value
   * for none, in the plane of its band if several are read; of formats other than TIFF and JPEG 2000, if its gray has
   * it, or its red, green and blue. Rejects with InputError, and with RangeError for a region or target that does not
   * fit. Several regions may be decoded at once.
   */
  decode(region: Rect, to: PlaneTarget): Promise<void>;
  /** Present if the image is neither read by region nor small enough to be decoded whole; `decode` then rejects. */
  readonly copy?: ImageCopy;
  /** Call it after the last decode has settled. */
  close(): Promise<void>;
}

/** Copies an image to one that is read by region, with the same pixels in these channels. */
export interface ImageCopy {
  /** The bytes of the copy on a disk, without headers and padding. */
  bytes(channels: PlaneTarget['channels']): number;
  /**
   * Decodes the image in bounded memory and writes the copy to that path. Rejects with InputError for faults of the
   * input, and then leaves a part of a file.
   */
  write(path: string, channels: PlaneTarget['channels']): Promise<void>;
}
