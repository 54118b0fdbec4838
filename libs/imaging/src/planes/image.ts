import type { PixelType, Rect } from '@halogrid/geometry';
import type { Format } from '@halogrid/sources';
import type { CaptureTime } from '@halogrid/sources/capture-time';
import type { PlaneTarget } from './plane-target.ts';

/** An image whose header is read. Its pixels are those stored: no EXIF rotation, no colour profile, alpha left out. */
export interface OpenImage {
  readonly format: Format;
  readonly width: number;
  readonly height: number;
  /** `u8` for 1 to 8 bits a sample, `u16` for more; values are as stored, never scaled. */
  readonly pixel: PixelType;
  /**
   * A name for its file as it was opened, which changes when that is written to: see `localVersion`, `remoteVersion`.
   */
  readonly version?: string;
  /** When it was captured, as its Exif states it; absent where that does not. */
  readonly captured?: CaptureTime;
  /** Whether a region is read without decoding the rest. */
  readonly readsRegions: boolean;
  /** Encoded bytes read from the source so far: of a remote one, those that came over the network. */
  readonly inputBytes: number;
  /**
   * A sentence that says what was removed from the file because it does not belong to the image. Absent if nothing was,
   * and until the image has been decoded or copied.
   */
  readonly mended?: string | undefined;
  /**
   * Decodes the luma, or the red, green and blue, of `region` into the planes of `to`; the region must be the
   * whole image unless `readsRegions`. Rejects with InputError, and with RangeError for a region or target that does
   * not fit. Several regions may be decoded at once.
   */
  decode(region: Rect, to: PlaneTarget): Promise<void>;
  /**
   * Present where the image is neither read by region nor small enough to be decoded whole, so that `decode` rejects.
   */
  readonly copy?: ImageCopy;
  /** After the last decode has settled. */
  close(): Promise<void>;
}

/** How an image becomes one of the same pixels that is read by region, as far as those channels go. */
export interface ImageCopy {
  /** What it takes on a disk, but for headers and padding. */
  bytes(channels: PlaneTarget['channels']): number;
  /**
   * Decodes the image in bounded memory and writes the copy to that path. Rejects with InputError for what is the
   * input's fault, and leaves a part of a file then.
   */
  write(path: string, channels: PlaneTarget['channels']): Promise<void>;
}
