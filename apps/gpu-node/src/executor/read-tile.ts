import type { Rect, Size } from '@halogrid/geometry';
import type { Place } from '@halogrid/imaging';
import type { CaptureTime } from '@halogrid/sources/capture-time';
import type { LeasedSource } from './unpack-lease.ts';

/** A rectangle of a source whose pixels were read: a tile, or the whole of a frame. */
export interface ReadTile {
  source: LeasedSource;
  /** The size of the whole image. */
  size: Size;
  rect: Rect;
  captured?: CaptureTime | undefined;
  /** Where the image lies on the Earth. */
  place?: Place | undefined;
  /** Whether some pixels of the image may have no value. */
  hasNoData?: boolean | undefined;
  /** A sentence that says what was removed from its file. */
  mended?: string | undefined;
}
