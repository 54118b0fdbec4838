import { WasmModule } from '@halogrid/kernels/wasm-module';
import type { DistanceName } from '../distances/distance-names.ts';
import type { Vector, VectorCounts } from '../distances/vector.ts';
import { type Bound, wholeBound } from './bound.ts';
import { type CountBytes, countArrays } from './count-arrays.ts';
import { estimators } from './estimators.ts';
import { gpuBound } from './gpu/gpu-bound.ts';

type Program = (...addresses: number[]) => void;
/** What assembly/scan.ts exports; addresses are bytes in the memory. */
type Exports = Record<'common' | 'absolute' | 'chiSquare' | 'roots' | 'directions', Program>;

/** Vectors of equal length that lie one after another. */
export interface Block {
  /** Bytes of a count. */
  readonly width: CountBytes;
  /** Counts of a vector, a multiple of `lengthUnit`. */
  readonly length: number;
  /** The masses of the vectors; 0 for a vector without counts. */
  readonly masses: Float64Array;
}

/** Estimates for the vectors of a block, which are not scored. */
export interface Estimates {
  /** 0 less the figure of each vector; meaningless for a vector without counts. */
  readonly near: Float64Array;
  /** How far an estimate may be off, by how far vectors are apart. */
  readonly bound: Bound;
}

/**
 * Estimates how near the vectors of a block are to queries, with WebAssembly SIMD. The memory holds one block, which is
 * read into it, and the data of one query.
 */
export class BlockScanner {
  readonly #wasm = new WasmModule<Exports>(new URL('./scan.wasm', import.meta.url));

  /** Memory for a block of that many bytes; it is valid until the next is asked for. */
  memory(bytes: number): Uint8Array {
    return this.#wasm.reserve(blockAt + bytes).subarray(blockAt, blockAt + bytes);
  }

  /** The counts in the memory. */
  counts({ width, length, masses }: Block): VectorCounts {
    return new countArrays[width](this.#wasm.buffer, blockAt, length * masses.length);
  }

  /** How near the block in the memory is to a query of the same length. */
  estimate(name: DistanceName, query: Vector, block: Block): Estimates {
    const { width, length, masses } = block;
    if (width === 8) return { near: new Float64Array(masses.length).fill(Number.POSITIVE_INFINITY), bound: wholeBound };
    const queryAt = blockAt + align(width * length * masses.length);
    const scalesAt = queryAt + 4 * length;
    const outAt = align(scalesAt + 4 * masses.length);
    this.#wasm.reserve(outAt + 8 * masses.length);
    const { program, prepare, scale } = estimators[name];
    const { buffer, exports } = this.#wasm;
    const near = new Float64Array(buffer, outAt, masses.length);
    if (program === 'absolute' && areSummed(masses, query.mass)) {
      const largest = 2 ** (8 * width) - 1;
      const counts = new countArrays[width](buffer, queryAt, length);
      for (let i = 0; i < length; i++) counts[i] = Math.min(query.bins[i]!, largest);
      exports.common(blockAt, masses.length, length, width, queryAt, outAt);
      for (let i = 0; i < near.length; i++) near[i] = near[i]! / query.mass - 1;
      return { near, bound: wholeBound };
    }
    // Float64Array.from would first make a list, which takes four times as many bytes.
    const shares = new Float64Array(query.bins.length);
    for (let i = 0; i < shares.length; i++) shares[i] = query.bins[i]! / query.mass;
    new Float32Array(buffer, queryAt, length).set(prepare(shares));
    if (scale) {
      const scales = new Float32Array(buffer, scalesAt, masses.length);
      for (let i = 0; i < masses.length; i++) scales[i] = masses[i]! > 0 ? scale(masses[i]!) : 0;
      exports[program](blockAt, masses.length, length, width, queryAt, scalesAt, outAt);
    } else exports[program](blockAt, masses.length, length, width, queryAt, outAt);
    return { near, bound: gpuBound(program, chunk) };
  }
}

/**
 * Counts that are summed up in float32, as in assembly/scan.ts. A GPU sums up more of them and rounds no better, so its
 * bound also holds here. With one bound for all distances, of 2^-17, all frames of a still camera were scored: 6 to 17
 * times the time (measured).
 */
const chunk = 64;

/** The address of the block, behind the compiler's own memory. */
const blockAt = WasmModule.begin;

const align = (bytes: number): number => Math.ceil(bytes / 16) * 16;

/** Whether all vectors with counts have that mass, and sums of their counts are below 2^32. */
const areSummed = (masses: Float64Array, mass: number): boolean =>
  mass < 2 ** 32 && masses.every((other) => other === mass || other === 0);
