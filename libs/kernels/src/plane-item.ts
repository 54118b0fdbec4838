import type { Rect, Size } from './geometry.ts';
import type { ReadPlan } from './halo.ts';

/**
 * One 8-bit plane in a staging buffer and the part of it to compute. A device takes many in one dispatch.
 *
 * The first pixel to compute lies on a 16-byte boundary and rows are a multiple of 16 bytes apart, because a GPU lane
 * loads 16 pixels as one vector.
 */
export interface PlaneItem {
  /** Byte offset of the stored plane's first pixel in the staging buffer. */
  offset: number;
  /** Bytes from one row to the next. */
  stride: number;
  /** Size of the stored plane in pixels. */
  stored: Size;
  /** What to compute, in the stored plane's coordinates. */
  out: Rect;
  /** Where codes exist and count, in the stored plane's coordinates, inside `out`. Elsewhere the code is 0. */
  valid: Rect;
}

/** The result of one item. */
export interface ItemResult {
  /** Pixels counted in each channel. */
  counted: number;
  /** Counts of every channel, one channel after another. */
  bins: Uint32Array;
  /** The codes of `out`, where they were asked for: `out.height` rows of `mapStride` bytes. */
  map?: Uint8Array;
  mapStride?: number;
}

/** Pixels that a GPU lane computes at once, a byte each. */
export const laneBytes = 16;

/** Places a planned plane at or after byte `from`; `end` is where the next may begin. */
export function placeItem(plan: ReadPlan, from: number): { item: PlaneItem; end: number } {
  const lead = (laneBytes - (plan.out.x % laneBytes)) % laneBytes;
  const offset = roundUp(from, laneBytes) + lead;
  const stride = roundUp(plan.stored.width + lead, laneBytes);
  const item = { offset, stride, stored: plan.stored, out: plan.out, valid: plan.valid };
  return { item, end: roundUp(offset + stride * plan.stored.height, 256) };
}

const roundUp = (value: number, unit: number): number => Math.ceil(value / unit) * unit;
