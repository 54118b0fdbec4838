import { copyBorderedRows, createPixels, type Pixels, storedPixels } from '../kernel/bordered-rows.ts';
import type { Operation } from '../kernel/operation.ts';
import type { ItemResult, PlaneItem } from '../kernel/plane-item.ts';
import { derivativeCoefficients, type LdpSettings } from './ldp.ts';

const bands = 4;
const bins = 256;

/** Pixels computed at once, so that they and their signs stay in a core's L2 cache. */
const pixelsAtOnce = 2 ** 16;

/** Moves bit d of a half byte to bit 8 d: from one bit per direction to the lowest bits of four codes. */
const spread = Uint32Array.from(
  { length: 16 },
  (_, half) => (half & 1) | ((half & 2) << 7) | ((half & 4) << 14) | ((half & 8) << 21),
);

/**
 * Codes and histograms of one item of 16-bit pixels; equal to ldpReference. The `cpu` device runs it. Like ldpBand of
 * assembly/ldp.ts it keeps the signs of all directions in a byte per pixel, and computes some rows at a time.
 */
export function ldpWide(
  { settings: { order }, border, reads = 'u16' }: Operation<LdpSettings>,
  bytes: Uint8Array,
  item: PlaneItem,
  withMap: boolean,
): ItemResult {
  const { out, valid } = item;
  const bandBytes = out.width * out.height;
  const map = withMap ? new Uint8Array(bands * bandBytes) : undefined;
  const counts = new Uint32Array(bands * bins);
  const stride = valid.width + 2 * order;
  const rowsAtOnce = Math.max(1, Math.min(valid.height, Math.floor(pixelsAtOnce / stride)));
  const { pixels, plane } = storedPixels(bytes, item, reads);
  const source = createPixels(reads, stride * (rowsAtOnce + order + 1));
  const signs = new Uint8Array(stride * (rowsAtOnce + 2));
  const coefficients = Int32Array.from(derivativeCoefficients(order));
  for (let y = 0; valid.width > 0 && y < valid.height; y += rowsAtOnce) {
    const rows = Math.min(rowsAtOnce, valid.height - y);
    const rect = { x: valid.x - order, y: valid.y + y - order, width: stride, height: rows + order + 1 };
    copyBorderedRows(pixels, plane, border, rect, source, 0, stride);
    writeSigns(source, { stride, width: valid.width + 2, rows: rows + 2, order }, coefficients, signs);
    for (let row = 0; row < rows; row++) {
      const at = (valid.y - out.y + y + row) * out.width + valid.x - out.x;
      countRow(signs, (row + 1) * stride + 1, stride, valid.width, counts, map, at, bandBytes);
    }
  }
  return {
    counted: valid.width * valid.height,
    bins: counts,
    map: map && { bytes: map, stride: out.width, bandBytes },
  };
}

interface Extent {
  /** Pixels from one row to the next, in the source and in the signs. */
  stride: number;
  width: number;
  rows: number;
  order: number;
}

/**
 * Writes one byte per pixel: bit d says that the derivative in direction d is above 0, bit 4 + d that it is below 0.
 */
function writeSigns(source: Pixels, extent: Extent, coefficients: Int32Array, signs: Uint8Array): void {
  const { stride, width, rows, order } = extent;
  const steps = Int32Array.of(1, 1 - stride, -stride, -stride - 1);
  for (let y = 0; y < rows; y++) {
    // The first sign belongs to the pixel left of and above the first computed one.
    const from = (y + order - 1) * stride + order - 1;
    for (let x = 0; x < width; x++) {
      let bits = 0;
      for (let d = 0; d < bands; d++) {
        let derivative = 0;
        const step = steps[d]!;
        for (let k = 0, at = from + x; k < order; k++, at += step) {
          derivative = (derivative + Math.imul(coefficients[k]!, source[at]!)) | 0;
        }
        // The derivative is below 2^22 in size, so bit 31 is its sign.
        bits |= ((-derivative >>> 31) | ((derivative >>> 31) << 4)) << d;
      }
      signs[y * stride + x] = bits;
    }
  }
}

/** Counts the codes of a row, from its first pixel on, and writes them to the map. */
function countRow(
  signs: Uint8Array,
  first: number,
  stride: number,
  width: number,
  counts: Uint32Array,
  map: Uint8Array | undefined,
  to: number,
  bandBytes: number,
): void {
  for (let x = 0; x < width; x++) {
    const at = first + x;
    const own = signs[at]!;
    // A bit is set if the neighbour's derivative has the same sign; NW is the highest bit. Codes are the complement.
    const codes = ~(
      (same(own, signs[at - stride - 1]!) << 7) |
      (same(own, signs[at - stride]!) << 6) |
      (same(own, signs[at - stride + 1]!) << 5) |
      (same(own, signs[at + 1]!) << 4) |
      (same(own, signs[at + stride + 1]!) << 3) |
      (same(own, signs[at + stride]!) << 2) |
      (same(own, signs[at + stride - 1]!) << 1) |
      same(own, signs[at - 1]!)
    );
    for (let d = 0; d < bands; d++) {
      const code = (codes >>> (8 * d)) & 255;
      counts[d * bins + code]!++;
      if (map) map[d * bandBytes + to + x] = code;
    }
  }
}

function same(own: number, neighbour: number): number {
  const both = own & neighbour;
  return spread[(both | (both >> 4)) & 15]!;
}
