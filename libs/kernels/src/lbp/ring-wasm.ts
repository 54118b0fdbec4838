import { createSamples, type MapSamples, sampleBytes, viewSamples } from '@halogrid/geometry';
import { copyBorderedRows, type Pixels, storedPixels } from '../kernel/bordered-rows.ts';
import type { Operation } from '../kernel/operation.ts';
import type { ItemResult, PlaneItem } from '../kernel/plane-item.ts';
import { WasmModule } from '../kernel/wasm-module.ts';
import { labelOf } from './labels.ts';
import type { LbpRing } from './parameters.ts';
import { tapsOf, unit } from './taps.ts';

/** The exports of assembly/lbp/ring.ts; addresses are bytes in the memory. */
interface Exports {
  widenU8(source: number, count: number, target: number): void;
  widenU16(source: number, count: number, target: number): void;
  ringBand(
    source: number,
    stride: number,
    width: number,
    rows: number,
    ring: number,
    points: number,
    isStrict: boolean,
    codes: number,
    codesStride: number,
  ): void;
  labelRow(
    codes: number,
    count: number,
    labels: number,
    sampleBytes: number,
    out: number,
    histogram: number,
    bins: number,
  ): void;
}

/** Rings with more neighbours would need too large a table of labels: their labels are computed one by one. */
const maxTablePoints = 16;

const neighbourBytes = 56;
/** A vector of four pixels may begin at the last pixel of a row. */
const beyondRow = 3;
/** The greatest width of a strip, so that the rows with a pixel's neighbours stay in a core's L1 cache. */
const stripPx = 512;
/** Bytes of a band of doubles, so that it stays in a core's L2 cache. */
const bandBytes = 2 ** 18;

const wasm = new WasmModule<Exports>(new URL('./lbp.wasm', import.meta.url));

/**
 * Labels and histogram of one item, with WebAssembly SIMD; equal to lbpReference. Labels of up to `maxTablePoints`
 * neighbours come from a table. Measured on one core of an EPYC, in Mpx/s: 160 for P=8 R=1, 76 for P=16 R=2, 30 for
 * P=24 R=3; lbpReference 13, 6.6 and 4.5.
 */
export function ringWasm(
  { settings: ring, border, reads = 'u8' }: Operation<LbpRing>,
  bytes: Uint8Array,
  item: PlaneItem,
  withMap: boolean,
): ItemResult {
  const { halo, points, bins, sample } = ring;
  const hasTable = points <= maxTablePoints;
  const { out, valid } = item;
  const { pixels, plane } = storedPixels(bytes, item, reads);
  const unitBytes = sampleBytes[sample];
  const map = withMap ? createSamples(sample, out.width * out.height) : undefined;

  const stripWidth = Math.min(valid.width, stripPx);
  // Doubles are converted four at a time.
  const stride = Math.ceil((stripWidth + 2 * halo + 1 + beyondRow) / 4) * 4;
  const rowsABand = Math.max(1, Math.min(valid.height, Math.floor(bandBytes / (8 * stride)) - 2 * halo - 1));
  const bandRows = rowsABand + 2 * halo + 1;
  const codesStride = 4 * (stripWidth + beyondRow);

  const place = placer();
  const ringAt = place(neighbourBytes * points);
  const tableAt = place(hasTable ? 2 * 2 ** points : 0);
  const histogramAt = place(2 * 4 * bins);
  const pixelsAt = place(sampleBytes[reads] * stride * bandRows);
  const doublesAt = place(8 * stride * bandRows);
  const codesAt = place(codesStride * rowsABand);
  const labelsAt = place(unitBytes * stripWidth);
  wasm.reserve(place(0));
  const band = viewSamples(reads, wasm.buffer, pixelsAt, stride * bandRows) as Pixels;
  const histogram = new Uint32Array(wasm.buffer, histogramAt, 2 * bins);
  const labels = viewSamples(sample, wasm.buffer, labelsAt, stripWidth);

  writeRing(ring, stride, ringAt);
  if (hasTable) new Uint16Array(wasm.buffer, tableAt, 2 ** points).set(tableOf(ring));
  histogram.fill(0);
  for (let y = 0; y < valid.height; y += rowsABand) {
    const rows = Math.min(rowsABand, valid.height - y);
    const readRows = rows + 2 * halo + 1;
    for (let x = 0; x < valid.width; x += stripWidth) {
      const width = Math.min(stripWidth, valid.width - x);
      const read = { x: valid.x + x - halo, y: valid.y + y - halo, width: width + 2 * halo + 1, height: readRows };
      copyBorderedRows(pixels, plane, border, read, band, 0, stride);
      (reads === 'u8' ? wasm.exports.widenU8 : wasm.exports.widenU16)(pixelsAt, stride * readRows, doublesAt);
      const first = doublesAt + 8 * (halo * stride + halo);
      wasm.exports.ringBand(first, 8 * stride, width, rows, ringAt, points, ring.isStrict, codesAt, codesStride);
      for (let row = 0; row < rows; row++) {
        const codes = codesAt + row * codesStride;
        if (hasTable) wasm.exports.labelRow(codes, width, tableAt, unitBytes, labelsAt, histogramAt, bins);
        else labelRow(ring, new Uint32Array(wasm.buffer, codes, width), labels, histogram);
        const at = (valid.y - out.y + y + row) * out.width + valid.x - out.x + x;
        map?.set(labels.subarray(0, width), at);
      }
    }
  }
  return {
    counted: valid.width * valid.height,
    bins: sumOfPair(histogram, bins),
    map: map && { bytes: new Uint8Array(map.buffer), stride: unitBytes * out.width, bandBytes: map.byteLength },
  };
}

/** Allocates memory from the beginning on. */
function placer(): (bytes: number) => number {
  let end = WasmModule.begin;
  return (bytes) => {
    const at = end;
    end += Math.ceil(bytes / 16) * 16;
    return at;
  };
}

function writeRing({ neighbours }: LbpRing, stride: number, at: number): void {
  const { steps, weights } = tapsOf(neighbours, stride);
  const view = new DataView(wasm.buffer, at);
  for (let i = 0; i < neighbours.length; i++) {
    const to = i * neighbourBytes;
    const whole = weights.subarray(4 * i, 4 * i + 4).indexOf(unit);
    for (let tap = 0; tap < 4; tap++) {
      view.setFloat64(to + 8 * tap, weights[4 * i + tap]!, true);
      view.setInt32(to + 32 + 4 * tap, 8 * steps[4 * i + (whole < 0 ? tap : whole)]!, true);
    }
    view.setUint32(to + 48, whole < 0 ? 4 : 1, true);
  }
}

/** The sum of the two tables of counts, by a loop: Uint32Array.from takes a millisecond for 65,536 bins (measured). */
function sumOfPair(histogram: Uint32Array, bins: number): Uint32Array {
  const sums = histogram.slice(0, bins);
  for (let bin = 0; bin < bins; bin++) sums[bin]! += histogram[bins + bin]!;
  return sums;
}

/** Labels of all codes, by points, labels and their order; other parameters do not change them. */
const tables = new Map<string, Uint16Array>();

/**
 * The labels of all codes, kept once made: 16 points took 0.55 ms (uniform) to 3.5 ms (ror), while labelling a tile of
 * 40 x 40 takes 0.04 ms (measured). At most 128 KiB.
 */
function tableOf({ points, labels, nonUniform }: LbpRing): Uint16Array {
  const key = `${points} ${labels} ${nonUniform}`;
  const known = tables.get(key);
  if (known) return known;
  const table = new Uint16Array(2 ** points);
  for (let code = 0; code < table.length; code++) table[code] = labelOf(code, points, labels, nonUniform);
  tables.set(key, table);
  return table;
}

/** As labelRow of assembly/lbp/ring.ts, without a table. */
function labelRow(ring: LbpRing, codes: Uint32Array, labels: MapSamples, histogram: Uint32Array): void {
  for (let x = 0; x < codes.length; x++) {
    const label = labelOf(codes[x]!, ring.points, ring.labels, ring.nonUniform);
    labels[x] = label;
    if (ring.bins > 0) histogram[label]!++;
  }
}
