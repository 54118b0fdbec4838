import { copyBorderedRows } from '../kernel/bordered-rows.ts';
import type { Operation } from '../kernel/operation.ts';
import type { ItemResult, PlaneItem } from '../kernel/plane-item.ts';
import { WasmModule } from '../kernel/wasm-module.ts';
import type { LdpSettings } from './ldp.ts';

/** The exports of assembly/ldp.ts; addresses are bytes in the memory. */
interface Exports {
  ldpBand(
    source: number,
    stride: number,
    width: number,
    rows: number,
    order: number,
    signs: number,
    codes: number,
    codesBytes: number,
    histograms: number,
  ): void;
}

const bands = 4;
const bins = 256;
/** Addresses in the memory: two tables of counts for each band, then signs, codes and pixels. */
const histogramsAt = WasmModule.begin;
const tables = 2;
const signsAt = histogramsAt + 4 * bins * tables * bands;
const signRows = 3;

/**
 * Bytes of the pixels computed at once, so that they and their codes, four times as much, stay in a core's L2 cache.
 */
const sourceBytes = 2 ** 16;

const wasm = new WasmModule<Exports>(new URL('./ldp.wasm', import.meta.url));

/**
 * Codes and histograms of one item with WebAssembly SIMD; equal to ldpReference. The `cpu` device runs it. Rows are
 * copied some at a time, surrounded by the pixels of the border rule, so that the inner loop need not handle borders.
 */
export function ldpWasm(
  { settings: { order }, border }: Operation<LdpSettings>,
  bytes: Uint8Array,
  item: PlaneItem,
  withMap: boolean,
): ItemResult {
  const { out, valid } = item;
  const bandBytes = out.width * out.height;
  const map = withMap ? new Uint8Array(bands * bandBytes) : undefined;
  // Vectors may reach 15 bytes beyond a row and its neighbours.
  const stride = valid.width + 2 * order + 16;
  const rowsAtOnce = Math.max(1, Math.min(valid.height, Math.floor(sourceBytes / stride)));
  const codesAt = signsAt + signRows * stride;
  const codesBytes = withMap ? bands * stride : 0;
  const sourceAt = codesAt + bands * stride * (withMap ? rowsAtOnce : 1);
  const view = wasm.reserve(sourceAt + (rowsAtOnce + order + 1) * stride);

  view.fill(0, histogramsAt, signsAt);
  for (let y = 0; valid.width > 0 && y < valid.height; y += rowsAtOnce) {
    const rows = Math.min(rowsAtOnce, valid.height - y);
    const rect = {
      x: valid.x - order,
      y: valid.y + y - order,
      width: valid.width + 2 * order,
      height: rows + order + 1,
    };
    copyBorderedRows(bytes, item, border, rect, view, sourceAt, stride);
    wasm.exports.ldpBand(sourceAt, stride, valid.width, rows, order, signsAt, codesAt, codesBytes, histogramsAt);
    for (let row = 0; map && row < bands * rows; row++) {
      const [line, band] = [Math.floor(row / bands), row % bands];
      const at = codesAt + row * stride;
      const to = band * bandBytes + (valid.y - out.y + y + line) * out.width + valid.x - out.x;
      map.set(view.subarray(at, at + valid.width), to);
    }
  }
  return {
    counted: valid.width * valid.height,
    bins: wasm.sumTables(histogramsAt, tables, { histograms: bands }),
    map: map && { bytes: map, stride: out.width, bandBytes },
  };
}
