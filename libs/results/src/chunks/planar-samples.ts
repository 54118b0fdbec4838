import { type Rect, type Size, sampleBytes, takeSamples } from '@halogrid/geometry';
import { bytesPerPixel, type MapType } from '../layout/map-type.ts';
import { previewSampling } from '../layout/preview-grid.ts';

/** Samples of a rectangle. The one at (band, y, x) begins at `band * bandBytes + y * strideBytes + x * sampleBytes`. */
export interface PlanarSamples {
  bytes: Uint8Array;
  /** From a row to the next row of the same band. */
  strideBytes: number;
  /** From a band to the next one; any number if there is only one band. */
  bandBytes: number;
  /** Whether there are only the samples that a preview shows of the rectangle: see previewSampling. */
  areOfPreview?: boolean;
}

/** The samples of `part`, as a view of the samples of `whole`. */
export function samplesOfPart(samples: PlanarSamples, type: MapType, whole: Rect, part: Rect): PlanarSamples {
  const at = (part.y - whole.y) * samples.strideBytes + (part.x - whole.x) * sampleBytes[type.sample];
  return { ...samples, bytes: samples.bytes.subarray(at) };
}

/** Returns `length` bytes that may hold anything. */
export type TakeMemory = (length: number) => Uint8Array;

/**
 * The samples without gaps between rows and bands, in memory from `take`. If there are no gaps, returns a view of the
 * given bytes.
 */
export function packSamples(
  samples: PlanarSamples,
  type: MapType,
  { width, height }: Size,
  take: TakeMemory = (length) => new Uint8Array(length),
): Uint8Array {
  const { bytes, strideBytes, bandBytes } = samples;
  const rowBytes = width * sampleBytes[type.sample];
  const total = width * height * bytesPerPixel(type);
  const isPacked = strideBytes === rowBytes && (type.bands === 1 || bandBytes === rowBytes * height);
  if (isPacked) return bytes.subarray(0, total);

  const packed = take(total);
  for (let row = 0, to = 0; to < total; row++, to += rowBytes) {
    const from = Math.floor(row / height) * bandBytes + (row % height) * strideBytes;
    packed.set(bytes.subarray(from, from + rowBytes), to);
  }
  return packed;
}

/** The samples of `rect` that a preview shows, without gaps between rows and bands. */
export function samplePreview(samples: PlanarSamples, type: MapType, rect: Rect, size: Size): Uint8Array {
  const sampled = previewSampling(rect, size, type.bands);
  if (samples.areOfPreview) return packSamples(samples, type, sampled);
  return takeSamples(samples, sampled, sampleBytes[type.sample], type.bands);
}
