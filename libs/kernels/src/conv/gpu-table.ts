import type { Arithmetic } from './arithmetic.ts';
import type { Factors } from './separate.ts';

/** Vectors of four words in the tables of sums.wgsl and separable.wgsl, and where the latter's columns begin. */
const directVectors = 496;
const separableVectors = 42;
const columnTaps = 8;

/** The table of sums.wgsl: two matrices for a magnitude, upper and lower limbs of the taps of an exact sum. */
export function directTable(arithmetic: Arithmetic): Uint32Array<ArrayBuffer> {
  const words = new Uint32Array(4 * directVectors);
  const { side } = arithmetic;
  const [before, groups] = groupsOf(side);
  const write = (target: Float32Array | Int32Array, matrix: number, taps: Float64Array): void => {
    taps.forEach((tap, i) => {
      const [row, column] = [Math.floor(i / side), i % side];
      target[4 * groups * (matrix * side + row) + before + column] = tap;
    });
  };
  const floats = new Float32Array(words.buffer);
  switch (arithmetic.kind) {
    case 'sum':
      write(floats, 0, arithmetic.taps);
      break;
    case 'magnitude':
      arithmetic.taps.forEach((taps, matrix) => {
        write(floats, matrix, taps);
      });
      break;
    case 'exact': {
      const integers = new Int32Array(words.buffer);
      const upper = arithmetic.taps.map((tap) => Math.floor(tap / 4096));
      write(integers, 0, upper);
      write(
        integers,
        1,
        arithmetic.taps.map((tap, i) => tap - 4096 * upper[i]!),
      );
    }
  }
  return words;
}

/** The table of separable.wgsl. */
export function separableTable({ vertical, horizontal }: Factors): Float32Array<ArrayBuffer> {
  const table = new Float32Array(4 * separableVectors);
  const [before] = groupsOf(horizontal.length);
  table.set(horizontal, before);
  // Input row r is for output row k of four as far as there is a tap r - k.
  for (let row = 0; row < vertical.length + 3; row++) {
    for (let k = 0; k < 4; k++) table[4 * (columnTaps + row) + k] = vertical[row - k] ?? 0;
  }
  return table;
}

/** Pixels of the first word that come before the taps of a row, and groups of four pixels that a row takes: see tile.wgsl. */
function groupsOf(side: number): [before: number, groups: number] {
  const before = (16 - (side - 1) / 2) % 4;
  return [before, Math.ceil((before + side) / 4)];
}
