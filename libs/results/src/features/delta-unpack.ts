import { WasmModule } from '@halogrid/kernels/wasm-module';
import { ColumnError } from './column-error.ts';

interface Exports {
  unpackDeltas(at: number, end: number, count: number, target: number): number;
}

const wasm = new WasmModule<Exports>(new URL('./histograms.wasm', import.meta.url));

/** How many bytes behind the end may be read, because words are read. */
const wordBytes = 8;

/**
 * Unpacks numbers of `deltaPack` from byte `from` on, until `into` is full; returns where they end. Throws ColumnError
 * if they were packed in another way, if there are more or fewer of them, or if they are not from 0 to 2^31 - 1.
 * WebAssembly unpacks 256 numbers in 0.3 µs; TypeScript took 1 µs.
 */
export function deltaUnpack(bytes: Uint8Array, from: number, into: Uint32Array | Float64Array): number {
  if (into.length === 0) return from;
  const packed = bytes.subarray(from);
  const at = WasmModule.begin + 4 * into.length;
  const end = at + packed.length;
  wasm.reserve(end + wordBytes).set(packed, at);
  const ended = wasm.exports.unpackDeltas(at, end, into.length, WasmModule.begin);
  if (ended === 0) throw new ColumnError(`does not hold ${into.length} packed numbers`);
  into.set(new Uint32Array(wasm.buffer, WasmModule.begin, into.length));
  return from + ended - at;
}
