import type { Size } from '@halogrid/geometry';
import { type MapType, type SampleArray, samplesOf } from '../layout/map-type.ts';
import { isMosaic, mosaicGapPx, panelsAcross } from '../layout/preview-grid.ts';
import { valueRange } from './value-range.ts';

/** An 8-bit picture, gray or RGB: the channels of a pixel together, rows without gaps. */
export interface PreviewPicture extends Size {
  channels: 1 | 3;
  pixels: Uint8Array;
}

const black = 0;
const midGray = 128;
const white = 255;

/**
 * Makes a picture that a person can judge from a preview's samples (bands one after another). One band is gray, three
 * bands are RGB, and others are a mosaic in reading order.
 *
 * Codes and labels (unsigned samples) go from black for 0 to white for `levels` - 1, where `levels` is the number of
 * bins. If `levels` is 0, the largest sample is white. Signed and floating samples go from black to white over the
 * range that `valueRange` finds for all bands together; values beyond it are black or white. If all are equal, they are
 * mid-gray. NaN is black.
 */
export function previewPicture(samples: Uint8Array, size: Size, type: MapType, levels: number): PreviewPicture {
  const values = samplesOf(samples, type.sample);
  const isSigned = type.sample === 'i16' || type.sample === 'f32';
  const gray = isSigned ? normalise(values) : stretch(values, levels);
  if (type.bands === 1) return { ...size, channels: 1, pixels: gray };
  return isMosaic(type.bands) ? mosaic(gray, size, type.bands) : rgb(gray, size);
}

function stretch(values: SampleArray, levels: number): Uint8Array {
  let top = levels - 1;
  if (levels === 0) for (const value of values) top = Math.max(top, value);
  if (top <= 0) return new Uint8Array(values.length);
  const gray = new Uint8Array(values.length);
  if (values instanceof Uint8Array) {
    // A table, because Deep Zoom draws every pixel of a map, and rounding each takes twice as long (measured).
    const grays = Uint8Array.from({ length: 256 }, (_, value) => grayOf(value, top));
    for (let i = 0; i < values.length; i++) gray[i] = grays[values[i]!]!;
  } else {
    for (let i = 0; i < values.length; i++) gray[i] = grayOf(values[i]!, top);
  }
  return gray;
}

const grayOf = (value: number, top: number): number => Math.min(white, Math.round((value * white) / top));

function normalise(values: SampleArray): Uint8Array {
  const { low, high } = valueRange(values) ?? { low: 0, high: 0 };
  const span = high - low;
  const gray = new Uint8Array(values.length);
  // A loop, because Uint8Array.from uses an iterator, which is ten times as slow (measured).
  for (let i = 0; i < gray.length; i++) gray[i] = normal(values[i]!);
  return gray;

  function normal(value: number): number {
    if (Number.isNaN(value) || value === -Infinity) return black;
    if (value === Infinity) return white;
    if (span === 0) return midGray;
    return Math.max(black, Math.min(white, Math.round(((value - low) / span) * white)));
  }
}

function rgb(gray: Uint8Array, size: Size): PreviewPicture {
  const area = size.width * size.height;
  const pixels = new Uint8Array(gray.length);
  for (let i = 0; i < area; i++) {
    for (let band = 0; band < 3; band++) pixels[3 * i + band] = gray[band * area + i]!;
  }
  return { ...size, channels: 3, pixels };
}

function mosaic(gray: Uint8Array, { width, height }: Size, bands: number): PreviewPicture {
  const across = panelsAcross(bands);
  const down = Math.ceil(bands / across);
  const size = { width: across * width + (across - 1) * mosaicGapPx, height: down * height + (down - 1) * mosaicGapPx };
  const pixels = new Uint8Array(size.width * size.height).fill(white);
  for (let row = 0; row < bands * height; row++) {
    const band = Math.floor(row / height);
    const x = (band % across) * (width + mosaicGapPx);
    const y = Math.floor(band / across) * (height + mosaicGapPx) + (row % height);
    pixels.set(gray.subarray(row * width, (row + 1) * width), y * size.width + x);
  }
  return { ...size, channels: 1, pixels };
}
