import { readFileSync } from 'node:fs';
import { type BorderMode, borderIndex } from '../border.ts';
import type { Parameters } from '../kernel.ts';
import type { ItemResult, PlaneItem } from '../plane-item.ts';

/** What assembly/lbp.ts exports; addresses are bytes in the memory. */
interface Exports {
  lbpBand(
    source: number,
    stride: number,
    width: number,
    rows: number,
    codes: number,
    codesStride: number,
    histogram: number,
    isMsb: number,
  ): void;
}

const pageBytes = 65_536;
const bins = 256;
/** Four tables of counts, at the beginning of the second page; a band and its codes follow them. */
const histogramAt = pageBytes;
const tables = 4;
const bandAt = histogramAt + 4 * bins * tables;

/** Bytes of a band: with its codes it stays in a core's L2 cache. */
const bandBytes = 2 ** 17;

const memory = new WebAssembly.Memory({ initial: 8, maximum: 65_536 });
const code = new WebAssembly.Module(readFileSync(new URL('./lbp.wasm', import.meta.url)));
const { lbpBand } = new WebAssembly.Instance(code, { env: { memory } }).exports as unknown as Exports;

/**
 * Codes and histogram of one item with WebAssembly SIMD: equal to lbpReference, and what the `cpu` device runs. Rows are
 * copied in bands, with the pixels of the border rule around them, so that the inner loop knows no borders.
 */
export function lbpWasm(
  parameters: Parameters,
  border: BorderMode,
  bytes: Uint8Array,
  item: PlaneItem,
  withMap: boolean,
): ItemResult {
  const { out, valid } = item;
  const map = withMap ? new Uint8Array(out.width * out.height) : undefined;
  const isMsb = parameters.convention === 'nw-cw-msb' ? 1 : 0;
  // A vector may reach 15 bytes beyond a row and its neighbours.
  const stride = valid.width + 2 + 16;
  const codesStride = valid.width + 16;
  const rowsABand = Math.max(1, Math.min(valid.height, Math.floor(bandBytes / stride)));
  const codesAt = bandAt + (rowsABand + 2) * stride;
  const view = reserve(codesAt + rowsABand * codesStride);

  view.fill(0, histogramAt, bandAt);
  for (let y = 0; valid.width > 0 && y < valid.height; y += rowsABand) {
    const rows = Math.min(rowsABand, valid.height - y);
    for (let row = 0; row < rows + 2; row++) {
      copyRow(bytes, item, border, valid.y + y + row - 1, view, bandAt + row * stride);
    }
    lbpBand(bandAt, stride, valid.width, rows, codesAt, codesStride, histogramAt, isMsb);
    for (let row = 0; map && row < rows; row++) {
      const at = codesAt + row * codesStride;
      map.set(view.subarray(at, at + valid.width), (valid.y - out.y + y + row) * out.width + valid.x - out.x);
    }
  }
  return { counted: valid.width * valid.height, bins: sumTables(), map, mapStride: map && out.width };
}

/** Copies a row of the stored plane, which may lie one outside it, from the pixel left of `valid` to the one right of it. */
function copyRow(
  bytes: Uint8Array,
  { offset, stride, stored, valid }: PlaneItem,
  border: BorderMode,
  y: number,
  view: Uint8Array,
  at: number,
): void {
  const from = valid.x - 1;
  const end = valid.x + valid.width + 1;
  const storedY = borderIndex(y, stored.height, border);
  if (storedY < 0) {
    view.fill(0, at, at + end - from);
    return;
  }
  const row = offset + storedY * stride;
  const first = Math.max(from, 0);
  const last = Math.min(end, stored.width);
  view.set(bytes.subarray(row + first, row + last), at + first - from);
  const edge = (x: number): number => {
    const storedX = borderIndex(x, stored.width, border);
    return storedX < 0 ? 0 : bytes[row + storedX]!;
  };
  if (from < 0) view[at] = edge(-1);
  if (end > stored.width) view[at + end - 1 - from] = edge(stored.width);
}

function sumTables(): Uint32Array {
  const counts = new Uint32Array(memory.buffer, histogramAt, bins * tables);
  return Uint32Array.from({ length: bins }, (_, bin) => {
    let sum = 0;
    for (let table = 0; table < tables; table++) sum += counts[table * bins + bin]!;
    return sum;
  });
}

/** The memory, grown to `end` bytes where it is smaller. */
function reserve(end: number): Uint8Array {
  const missing = end - memory.buffer.byteLength;
  if (missing > 0) memory.grow(Math.ceil(missing / pageBytes));
  return new Uint8Array(memory.buffer);
}
