import { WasmModule } from '@halogrid/kernels/wasm-module';

/** How the bins of a frame are cut into cells. */
export interface CellShape {
  readonly rows: number;
  readonly columns: number;
  /** Counts of a cell. */
  readonly bins: number;
}

/** What assembly/changes.ts exports; addresses are bytes in the memory. */
interface Exports {
  apart(a: number, b: number, cells: number, bins: number, out: number): void;
  middleOfEight(frames: number, length: number, out: number): void;
}

const { begin } = WasmModule;
let wasm: WasmModule<Exports> | undefined;

/** The module, with memory for that many float32 and `more` bytes behind them; it holds nothing between two calls. */
function memoryFor(floats: number, more: number): WasmModule<Exports> {
  wasm ??= new WasmModule<Exports>(new URL('./changes.wasm', import.meta.url));
  wasm.reserve(begin + 4 * floats + more);
  return wasm;
}

/** The next address behind that many float32 that is a multiple of 16. */
const behind = (floats: number): number => begin + Math.ceil(floats / 4) * 16;

/**
 * How far each cell of one frame is from the same cell of another, as `apart` defines it, but summed in another order.
 * The result is valid until the next call.
 */
export function apartOfCells(a: Float32Array, b: Float32Array, { rows, columns, bins }: CellShape): Float64Array {
  const cells = rows * columns;
  const { buffer, exports } = memoryFor(2 * a.length + 16, 8 * cells);
  const [second, out] = [behind(a.length), behind(a.length) + behind(a.length) - begin];
  new Float32Array(buffer, begin, a.length).set(a);
  new Float32Array(buffer, second, b.length).set(b);
  exports.apart(begin, second, cells, bins, out);
  return new Float64Array(buffer, out, cells);
}

/** The mean of the middle four values that eight frames have of each bin. */
export function middleOfEight(frames: readonly Float32Array[]): Float32Array {
  const length = frames[0]!.length;
  const padded = Math.ceil(length / 4) * 4;
  const { buffer, exports } = memoryFor(9 * padded, 0);
  for (const [i, frame] of frames.entries()) new Float32Array(buffer, begin + 4 * padded * i, length).set(frame);
  const out = begin + 4 * padded * 8;
  exports.middleOfEight(begin, padded, out);
  return new Float32Array(buffer, out, length).slice();
}
