import type { Size } from '@halogrid/geometry';
import { itemWords } from '../kernel/gpu/gpu-kernel.ts';
import { lanePixels, type PlaneItem } from '../kernel/plane-item.ts';

/** The place of a dense result in a buffer, in bytes, all multiples of 16. `lead` samples precede its first one. */
export interface MapPlace {
  offset: number;
  stride: number;
  bandBytes: number;
}

/** Bytes of a vector, the unit of addresses in shaders. */
const vectorBytes = 16;

/** Pixels between the first of the 16 that a lane loads and the first column to compute. */
export function leadOf({ offset, out }: PlaneItem, pixelBytes: number): number {
  return (offset / pixelBytes + out.x) % lanePixels;
}

/**
 * Places the dense results of items one after another: `bands` bands each, with samples of `bytes` bytes, for pixels of
 * `pixelBytes` bytes. `end` is the end of the last.
 */
export function placeMaps(
  items: readonly PlaneItem[],
  pixelBytes: number,
  bytes: number,
  bands: number,
): { places: MapPlace[]; end: number } {
  let end = 0;
  const places = items.map((item) => {
    const stride = Math.ceil(((leadOf(item, pixelBytes) + item.out.width) * bytes) / vectorBytes) * vectorBytes;
    const place = { offset: end, stride, bandBytes: stride * item.out.height };
    end += place.bandBytes * bands;
    return place;
  });
  return { places, end };
}

/** A placeholder for items whose dense result is not wanted. */
export const noPlace: MapPlace = { offset: 0, stride: 0, bandBytes: 0 };

/** The table of items as `struct Item` of item.wgsl reads it. */
export function packItems(
  items: readonly PlaneItem[],
  places: readonly MapPlace[],
  pixelBytes: number,
): Uint32Array<ArrayBuffer> {
  const lanes = lanePixels * pixelBytes;
  const words = new Uint32Array(items.length * itemWords);
  items.forEach((item, i) => {
    const { offset, stride, stored, out, valid } = item;
    const place = places[i]!;
    const lead = leadOf(item, pixelBytes);
    const x0 = valid.x - out.x;
    const y0 = valid.y - out.y;
    words.set(
      [
        (offset + (out.x - lead) * pixelBytes) / lanes,
        stride / lanes,
        stored.width,
        stored.height,
        out.x,
        out.y,
        out.width,
        out.height,
        x0,
        y0,
        x0 + valid.width,
        y0 + valid.height,
        place.offset / vectorBytes,
        place.stride / vectorBytes,
        lead,
      ],
      i * itemWords,
    );
  });
  return words;
}

/** The pixels of an item that lanes compute: its rows, with the lead of each. */
export function sizeWithLead(item: PlaneItem, pixelBytes: number): Size {
  return { width: leadOf(item, pixelBytes) + item.out.width, height: item.out.height };
}

/** The largest width and the largest height. */
export function largestOf(sizes: readonly Size[]): Size {
  return {
    width: sizes.reduce((most, { width }) => Math.max(most, width), 0),
    height: sizes.reduce((most, { height }) => Math.max(most, height), 0),
  };
}
