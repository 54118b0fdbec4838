import { type MapSamples, type PixelType, sampleBytes } from '@halogrid/geometry';
import { stepOf } from '../kernel/binning.ts';
import { copyBorderedRows, storedPixels } from '../kernel/bordered-rows.ts';
import type { Operation } from '../kernel/operation.ts';
import type { ItemResult, PlaneItem } from '../kernel/plane-item.ts';
import { WasmModule } from '../kernel/wasm-module.ts';
import type { Arithmetic } from './arithmetic.ts';
import type { ConvSettings } from './conv.ts';
import { createConvResult, finishConvResult } from './conv-result.ts';

/** The exports of assembly/conv.ts. */
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
  countReals(values: number, count: number, scale: number, first: number, bins: number, tables: number): void;
  countShorts(values: number, count: number, scale: number, first: number, bins: number, tables: number): void;
}

/** With a single table, equal neighbours would wait for each other. */
const tables = 4;
/** Addresses in the memory: taps, then counts; the bands follow. */
const tapsAt = WasmModule.begin;
const tablesAt = roundUp(tapsAt + 2 * 8 * 31 * 31 + 16);

/** Bytes of a band as floats, so that it stays in a core's L2 cache. */
const bandBytes = 2 ** 19;

const wasm = new WasmModule<Exports>(new URL('./conv.wasm', import.meta.url));

/**
 * Convolution of one item with WebAssembly SIMD, which the `cpu` device runs. Equal to convReference for u8, i16 and
 * integer taps. Rows go through float32 or float64 memory in bands, surrounded by the pixels of the border rule.
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
  if (valid.width === 0) return finishConvResult(result, item);

  const unit = sampleBytes[reads];
  const { bins } = settings.binning;
  const band = layOut(arithmetic, item, unit, bins);
  const view = wasm.reserve(band.end);
  const memory = reads === 'u8' ? view : new Uint16Array(view.buffer);
  writeTaps(arithmetic);
  const halo = (arithmetic.side - 1) / 2;
  for (let channel = 0; channel < result.channels; channel++) {
    view.fill(0, tablesAt, band.pixelsAt);
    const { pixels, plane } = storedPixels(bytes, item, reads, channel);
    for (let y = 0; y < valid.height; y += band.rows) {
      const rows = Math.min(band.rows, valid.height - y);
      const rect = { x: valid.x - halo, y: valid.y + y - halo, width: valid.width + 2 * halo, height: rows + 2 * halo };
      copyBorderedRows(pixels, plane, border, rect, memory, band.pixelsAt / unit, band.stride);
      compute(arithmetic, reads, band, rows, settings.as !== 'f32');
      const results = finish(settings, band, rows);
      count(settings, reads, band, rows);
      if (result.samples) keep(result.samples, results, band, item, channel, y);
    }
    result.bins.set(wasm.sumTables(tablesAt, tables, { bins }), channel * bins);
  }
  return finishConvResult(result, item);
}

/** Addresses of a band's parts in the memory; strides in samples. */
interface Band {
  width: number;
  rows: number;
  /** Pixels from the start of one row, with its halo, to the start of the next. */
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

function layOut({ kind, side }: Arithmetic, { valid }: PlaneItem, pixelBytes: number, bins: number): Band {
  const bandAt = roundUp(tablesAt + 4 * bins * tables);
  const stride = roundUp(valid.width + side - 1 + 15);
  const outStride = roundUp(valid.width);
  const floatBytes = kind === 'exact' ? 8 : 4;
  // Long rows leave room for few. A band has at least as many rows as its halo, because the halo is copied again for
  // each band.
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

/** Leaves the results of a band's rows as float32 at `outAt`; `exact` ones rounded to integers if `rounds`. */
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

/** Converts a band's results to samples of the wanted type, if needed; rows are `outStride` samples apart. */
function finish({ as }: ConvSettings, { outStride, outAt, secondAt }: Band, rows: number): MapSamples {
  const { toShorts, toBytes } = wasm.exports;
  const length = rows * outStride;
  switch (as) {
    case 'f32':
      return new Float32Array(wasm.buffer, outAt, length);
    case 'i16':
      toShorts(outAt, secondAt, length);
      return new Int16Array(wasm.buffer, secondAt, length);
    case 'u8':
      toBytes(outAt, secondAt, length);
      return new Uint8Array(wasm.buffer, secondAt, length);
  }
}

/** Counts a band's samples, as `finish` left them. */
function count({ as, binning }: ConvSettings, reads: PixelType, band: Band, rows: number): void {
  const { bins, first } = binning;
  const scale = 1 / stepOf(binning, reads);
  const { width, outStride, outAt, secondAt } = band;
  const { countBytes, countShorts, countReals } = wasm.exports;
  for (let row = 0; row < rows; row++) {
    const at = row * outStride;
    if (as === 'u8') countBytes(secondAt + at, width, tablesAt);
    else if (as === 'i16') countShorts(secondAt + 2 * at, width, scale, first, bins, tablesAt);
    else countReals(outAt + 4 * at, width, scale, first, bins, tablesAt);
  }
}

/** Copies a band's samples to their rows of the map. */
function keep(
  samples: MapSamples,
  results: MapSamples,
  { width, outStride }: Band,
  { out, valid }: PlaneItem,
  channel: number,
  y: number,
): void {
  for (let row = 0; row * outStride < results.length; row++) {
    const at = (channel * out.height + valid.y - out.y + y + row) * out.width + valid.x - out.x;
    samples.set(results.subarray(row * outStride, row * outStride + width), at);
  }
}

const floats = (): Float32Array => new Float32Array(wasm.buffer, tapsAt);

function roundUp(count: number): number {
  return Math.ceil(count / 16) * 16;
}
