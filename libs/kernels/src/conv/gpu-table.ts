import type { Arithmetic } from './arithmetic.ts';

/** Vectors of four words in the table of sums.wgsl. */
const directVectors = 496;

/**
 * The table of sums.wgsl: one matrix; two for a magnitude; for an exact sum, the upper and the lower limbs of the taps.
 */
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

/** Pixels of the first word before the taps of a row, and groups of four pixels that a row takes: see tile.wgsl. */
function groupsOf(side: number): [before: number, groups: number] {
  const before = (16 - (side - 1) / 2) % 4;
  return [before, Math.ceil((before + side) / 4)];
}
