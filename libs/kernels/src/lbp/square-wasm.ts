import { type Rect, type Sampling, sampleBytes } from '@halogrid/geometry';
import { copyBorderedRows, isInside, type StoredPlane, storedPixels } from '../kernel/bordered-rows.ts';
import type { Operation } from '../kernel/operation.ts';
import type { ItemResult, PlaneItem } from '../kernel/plane-item.ts';
import { WasmModule } from '../kernel/wasm-module.ts';
import { labelOf } from './labels.ts';
import type { LbpRing } from './parameters.ts';

/** The exports of assembly/lbp.ts; addresses are bytes in the memory. */
interface Exports {
  lbpBand: LbpBand;
  /** The same for 16-bit pixels. */
  lbpBandDeep: LbpBand;
  addPairs(pairs: number, histogram: number): void;
}

type LbpBand = (
  source: number,
  stride: number,
  width: number,
  rows: number,
  codes: number,
  codesStride: number,
  histogram: number,
  pairs: number,
  isMsb: number,
) => void;

const bins = 256;
/** Addresses in the memory: four tables of counts, then the counts of pairs, a band and its codes. */
const histogramAt = WasmModule.begin;
const tables = 4;
/** All zero between items. */
const pairsAt = histogramAt + 4 * bins * tables;
const bandAt = pairsAt + 4 * bins * bins;

/** The number of pixels from which counting by pairs saves more than adding up 256 x 256 pairs costs (measured). */
const worthPairs = 2 ** 16;

/** Bytes of a band, so that it stays in a core's L2 cache with its codes. */
const bandBytes = 2 ** 17;

const wasm = new WasmModule<Exports>(new URL('./lbp.wasm', import.meta.url));

/**
 * Labels and histogram of one item for the 3x3 square, with WebAssembly SIMD; equal to lbpReference. Rows are copied in
 * bands, surrounded by the pixels of the border rule, so that the inner loop need not handle borders.
 */
export function squareWasm(
  { settings: ring, border, reads = 'u8' }: Operation<LbpRing>,
  bytes: Uint8Array,
  item: PlaneItem,
  withMap: boolean,
): ItemResult {
  const { out, valid, sampling } = item;
  const { width, height } = sampling ?? out;
  const map = withMap ? new Uint8Array(width * height) : undefined;
  const labels = ring.labels === 'all' ? undefined : labelsOfCodes(ring);
  const unit = sampleBytes[reads];
  const source = storedPixels(bytes, item, reads);
  const lbpBand = reads === 'u8' ? wasm.exports.lbpBand : wasm.exports.lbpBandDeep;
  const stride = strideOf(valid, source.plane);
  const codesStride = valid.width + 16;
  const rowsABand = Math.max(1, Math.min(valid.height, Math.floor(bandBytes / (stride * unit))));
  const codesAt = bandAt + (rowsABand + 2) * stride * unit;
  const view = wasm.reserve(codesAt + rowsABand * codesStride);

  const band = reads === 'u8' ? view : new Uint16Array(view.buffer);
  const isPaired = valid.width * valid.height >= worthPairs;
  const pairs = isPaired ? pairsAt : 0;
  const isMsb = ring.square!.isMsb ? 1 : 0;

  view.fill(0, histogramAt, pairsAt);
  for (let y = 0; valid.width > 0 && y < valid.height; y += rowsABand) {
    const rows = Math.min(rowsABand, valid.height - y);
    const read = { x: valid.x - 1, y: valid.y + y - 1, width: valid.width + 2, height: rows + 2 };
    copyBorderedRows(source.pixels, source.plane, border, read, band, bandAt / unit, stride);
    lbpBand(bandAt, stride * unit, valid.width, rows, codesAt, codesStride, histogramAt, pairs, isMsb);
    for (let row = 0; map && row < rows; row++) {
      const codes = view.subarray(codesAt + row * codesStride, codesAt + row * codesStride + valid.width);
      const [top, left] = [valid.y - out.y + y + row, valid.x - out.x];
      const at = top * out.width + left;
      if (sampling) sampleRow(codes, { top, left }, sampling, labels, map);
      else if (labels) for (let x = 0; x < codes.length; x++) map[at + x] = labels[codes[x]!]!;
      else map.set(codes, at);
    }
  }
  if (isPaired) wasm.exports.addPairs(pairsAt, histogramAt);
  const counts = wasm.sumTables(histogramAt, tables);
  return {
    counted: valid.width * valid.height,
    bins: labels ? countsOf(labels, counts, ring.bins) : counts,
    map: map && { bytes: map, stride: width, bandBytes: map.length, ...(sampling && { isSampled: true }) },
  };
}

/**
 * Pixels from one row of a band to the next. If no row needs a border and the plane's rows are not much longer, it is
 * the plane's stride, so that a band is a single copy. Vectors may reach 15 pixels beyond a row and its neighbours,
 * into the next row.
 */
function strideOf(valid: Rect, { stride, stored }: StoredPlane): number {
  const read = { x: valid.x - 1, y: valid.y - 1, width: valid.width + 2, height: valid.height + 2 };
  return isInside(read, stored) && stride < 1.5 * read.width ? stride : read.width + 16;
}

/** Writes the sampled codes of a row, which begins at (left, top), to their places. */
function sampleRow(
  codes: Uint8Array,
  { top, left }: { top: number; left: number },
  { x, y, step, width, height }: Sampling,
  labels: Uint8Array | undefined,
  map: Uint8Array,
): void {
  const row = (top - y) / step;
  if (!Number.isInteger(row) || row < 0 || row >= height) return;
  for (let column = 0; column < width; column++) {
    const code = codes[x + column * step - left];
    if (code !== undefined) map[row * width + column] = labels ? labels[code]! : code;
  }
}

/** The label of each of the 256 codes. */
function labelsOfCodes({ points, labels, nonUniform }: LbpRing): Uint8Array {
  return Uint8Array.from({ length: bins }, (_, code) => labelOf(code, points, labels, nonUniform));
}

/** Adds up counts of codes to counts of labels. */
function countsOf(labels: Uint8Array, counts: Uint32Array, labelCount: number): Uint32Array {
  const sums = new Uint32Array(labelCount);
  counts.forEach((count, code) => {
    sums[labels[code]!]! += count;
  });
  return sums;
}
