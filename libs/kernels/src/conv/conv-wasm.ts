import { type PixelType, type Samples, sampleBytes } from '@halogrid/geometry';
import { copyBorderedRows, storedPixels } from '../kernel/bordered-rows.ts';
import type { Operation } from '../kernel/operation.ts';
import type { ItemResult, PlaneItem } from '../kernel/plane-item.ts';
import { WasmModule } from '../kernel/wasm-module.ts';
import type { Arithmetic } from './arithmetic.ts';
import type { ConvSettings } from './conv.ts';
import { type ConvResult, createConvResult, finishConvResult } from './conv-result.ts';

/** What assembly/conv.ts exports. */
interface Exports {
  widen32(source: number, target: number, count: number): void;
  widen64(source: number, target: number, count: number): void;
  /** The same for pixels of 16 bits. */
  widenDeep32(source: number, target: number, count: number): void;
  widenDeep64(source: number, target: number, count: number): void;
  convolve32(
    source: number,
    stride: number,
    taps: number,
    tapRows: number,
    tapColumns: number,
    scale: number,
    width: number,
    rows: number,
    out: number,
    outStride: number,
  ): void;
  convolve64(
    source: number,
    stride: number,
    taps: number,
    side: number,
    rounds: number,
    width: number,
    rows: number,
    out: number,
    outStride: number,
  ): void;
  magnitude(first: number, second: number, count: number): void;
  toBytes(values: number, out: number, count: number): void;
  toShorts(values: number, out: number, count: number): void;
  countBytes(bytes: number, count: number, tables: number): void;
}

const bins = 256;
const tables = 4;
/** Counts, then taps; the bands follow them. */
const tablesAt = WasmModule.begin;
const tapsAt = tablesAt + 4 * bins * tables;
const bandAt = tapsAt + 2 * 8 * 31 * 31 + 16;

/** Bytes of a band as floats: it stays in a core's L2 cache. */
const bandBytes = 2 ** 19;

const wasm = new WasmModule<Exports>(new URL('./conv.wasm', import.meta.url));

/**
 * Convolution of one item with WebAssembly SIMD, what the `cpu` device runs: equal to convReference for u8, i16 and integer
 * taps. Rows go through float32 or float64 memory in bands, with the pixels of the border rule around them.
 */
export function convWasm(
  operation: Operation<ConvSettings>,
  bytes: Uint8Array,
  item: PlaneItem,
  withMap: boolean,
): ItemResult {
  const { settings, border, reads = 'u8' } = operation;
  const arithmetic = settings.arithmetic[reads];
  const result = createConvResult(operation, item, withMap);
  const { valid } = item;
  if ((!result.samples && result.bins.length === 0) || valid.width === 0) return finishConvResult(result, item);

  const unit = sampleBytes[reads];
  const band = layOut(arithmetic, item, unit);
  const view = wasm.reserve(band.end);
  const memory = reads === 'u8' ? view : new Uint16Array(view.buffer);
  writeTaps(arithmetic);
  const halo = (arithmetic.side - 1) / 2;
  for (let channel = 0; channel < result.channels; channel++) {
    view.fill(0, tablesAt, tapsAt);
    const { pixels, plane } = storedPixels(bytes, item, reads, channel);
    for (let y = 0; y < valid.height; y += band.rows) {
      const rows = Math.min(band.rows, valid.height - y);
      const rect = { x: valid.x - halo, y: valid.y + y - halo, width: valid.width + 2 * halo, height: rows + 2 * halo };
      copyBorderedRows(pixels, plane, border, rect, memory, band.pixelsAt / unit, band.stride);
      compute(arithmetic, reads, band, rows, settings.as !== 'f32');
      keep(result, band, item, channel, y, rows);
    }
    if (result.bins.length > 0) result.bins.set(wasm.sumTables(tablesAt, tables), channel * bins);
  }
  return finishConvResult(result, item);
}

/** Where the parts of a band lie in the memory; strides in samples. */
interface Band {
  width: number;
  rows: number;
  /** Pixels from one row with its halo to the next. */
  stride: number;
  outStride: number;
  pixelsAt: number;
  /** The same pixels as floats. */
  floatsAt: number;
  /** Two blocks of float32 results. */
  outAt: number;
  secondAt: number;
  end: number;
}

function layOut({ kind, side }: Arithmetic, { valid }: PlaneItem, pixelBytes: number): Band {
  const stride = roundUp(valid.width + side - 1 + 15);
  const outStride = roundUp(valid.width);
  const floatBytes = kind === 'exact' ? 8 : 4;
  // Where rows are long, at least as many as the halo, which is copied anew for each band.
  const fitting = Math.max(Math.floor(bandBytes / (stride * floatBytes)) - (side - 1), side - 1);
  const rows = Math.min(fitting, valid.height);
  const storedRows = rows + side - 1;
  const floatsAt = bandAt + roundUp((storedRows * stride + 16) * pixelBytes);
  const outAt = floatsAt + roundUp(storedRows * stride * floatBytes + 16 * floatBytes);
  const secondAt = outAt + 4 * storedRows * outStride;
  const end = secondAt + 4 * storedRows * outStride;
  return { width: valid.width, rows, stride, outStride, pixelsAt: bandAt, floatsAt, outAt, secondAt, end };
}

function writeTaps(arithmetic: Arithmetic): void {
  switch (arithmetic.kind) {
    case 'sum': {
      const { taps, factors } = arithmetic;
      floats().set(factors ? [...factors.horizontal, ...factors.vertical] : taps);
      return;
    }
    case 'magnitude':
      floats().set(arithmetic.taps.flatMap((taps) => [...taps]));
      return;
    case 'exact': {
      const { taps, shift } = arithmetic;
      new Float64Array(wasm.buffer, tapsAt).set(taps.map((tap) => tap / 2 ** shift));
    }
  }
}

/** Leaves the results of a band's rows as float32 at `outAt`; of `exact` ones as integers if `rounds`. */
function compute(arithmetic: Arithmetic, reads: PixelType, band: Band, rows: number, rounds: boolean): void {
  const { side, kind } = arithmetic;
  const { width, outStride, pixelsAt, floatsAt, outAt, secondAt } = band;
  const { widen32, widen64, widenDeep32, widenDeep64 } = wasm.exports;
  const out = 4 * outStride;
  const count = (rows + side - 1) * band.stride;
  if (kind === 'exact') {
    (reads === 'u8' ? widen64 : widenDeep64)(pixelsAt, floatsAt, count);
    wasm.exports.convolve64(floatsAt, 8 * band.stride, tapsAt, side, rounds ? 1 : 0, width, rows, outAt, out);
    return;
  }
  (reads === 'u8' ? widen32 : widenDeep32)(pixelsAt, floatsAt, count);
  const stride = 4 * band.stride;
  if (kind === 'magnitude') {
    wasm.exports.convolve32(floatsAt, stride, tapsAt, side, side, 1, width, rows, outAt, out);
    wasm.exports.convolve32(floatsAt, stride, tapsAt + 4 * side * side, side, side, 1, width, rows, secondAt, out);
    wasm.exports.magnitude(outAt, secondAt, rows * outStride);
  } else if (arithmetic.factors) {
    wasm.exports.convolve32(floatsAt, stride, tapsAt, 1, side, 1, width, rows + side - 1, secondAt, out);
    wasm.exports.convolve32(secondAt, out, tapsAt + 4 * side, side, 1, arithmetic.scale, width, rows, outAt, out);
  } else {
    wasm.exports.convolve32(floatsAt, stride, tapsAt, side, side, arithmetic.scale, width, rows, outAt, out);
  }
}

/** Turns a band's results into samples, counts them, and copies them to their rows of the map. */
function keep(
  result: ConvResult,
  band: Band,
  { out, valid }: PlaneItem,
  channel: number,
  y: number,
  rows: number,
): void {
  const { samples, bins: counts } = result;
  const { width, outStride, outAt, secondAt } = band;
  let results: Samples;
  if (samples instanceof Float32Array) {
    results = new Float32Array(wasm.buffer, outAt, rows * outStride);
  } else if (samples instanceof Int16Array) {
    wasm.exports.toShorts(outAt, secondAt, rows * outStride);
    results = new Int16Array(wasm.buffer, secondAt, rows * outStride);
  } else {
    wasm.exports.toBytes(outAt, secondAt, rows * outStride);
    results = new Uint8Array(wasm.buffer, secondAt, rows * outStride);
  }
  for (let row = 0; row < rows; row++) {
    if (counts.length > 0) wasm.exports.countBytes(secondAt + row * outStride, width, tablesAt);
    const at = (channel * out.height + valid.y - out.y + y + row) * out.width + valid.x - out.x;
    samples?.set(results.subarray(row * outStride, row * outStride + width), at);
  }
}

const floats = (): Float32Array => new Float32Array(wasm.buffer, tapsAt);

const roundUp = (count: number): number => Math.ceil(count / 16) * 16;
