import type { Factors } from './separate.ts';

/** The sums that a lane makes at once in a pass, by name. */
const sums = ['a', 'b', 'c', 'd'];
/** Taps of a line in the table: first the row's line, then the column's. */
const lineTaps = 32;
/** Pixels of a window before the lane's own: see separable.wgsl. */
const ownPixel = 16;
const words = ['before', 'own', 'after'].flatMap((vector) => ['x', 'y', 'z', 'w'].map((word) => `${vector}.${word}`));

/** The table of separable.wgsl: the taps of a row and of a column. */
export function separableTable({ vertical, horizontal }: Factors): Float32Array<ArrayBuffer> {
  const table = new Float32Array(2 * lineTaps);
  table.set(horizontal);
  table.set(vertical, lineTaps);
  return table;
}

/**
 * The parts of separable.wgsl that depend on the matrix: the shape of workgroup memory, for vectors of four columns and
 * blocks of four rows, and the sums, unrolled. So a lane indexes none of its own variables, and adds only the matrix's
 * taps.
 */
export function separableSums(side: number, columns: number, blocks: number): string {
  return `
const COLUMNS = ${columns}u;
const BLOCKS = ${blocks}u;
@group(0) @binding(4) var<uniform> taps: array<vec4<f32>, ${(2 * lineTaps) / 4}>;
${rowSums(side)}
${columnSums(side)}`;
}

/** Sums of four pixels, of the next four, and so on: each sum takes the pixels under each tap of a row. */
function rowSums(side: number): string {
  const first = ownPixel - (side - 1) / 2;
  const fours: string[] = [];
  for (let word = Math.floor(first / 4); word <= Math.floor((first + side + 14) / 4); word++) {
    fours.push(`let p${word} = vec4<f32>(unpack4xU8(window.${words[word]}));`);
  }
  const added: string[] = [];
  for (let i = 0; i < side; i++) {
    sums.forEach((sum, k) => {
      added.push(add(sum, i, pixelsFrom(first + i + 4 * k)));
    });
  }
  return inFunction('row_sums(window: Window)', [...fours, ...added]);
}

/** Four pixels from `pixel` on, which may begin anywhere in a word. */
function pixelsFrom(pixel: number): string {
  const word = Math.floor(pixel / 4);
  const parts = [
    `p${word}`,
    `p${word}.yzw, p${word + 1}.x`,
    `p${word}.zw, p${word + 1}.xy`,
    `p${word}.w, p${word + 1}.xyz`,
  ];
  return `vec4(${parts[pixel % 4]})`;
}

/** Sums of four rows: row r of the input has tap r - k in sum k, if there is such a tap. */
function columnSums(side: number): string {
  const added: string[] = [];
  for (let row = 0; row < side + sums.length - 1; row++) {
    added.push(`let p${row} = filtered[block + ${row >> 2}][${row % 4}][${row % 2 === 0 ? 'even' : 'odd'}];`);
    sums.forEach((sum, k) => {
      if (row >= k && row < k + side) added.push(add(sum, lineTaps + row - k, `p${row}`));
    });
  }
  return inFunction('column_sums(block: u32, even: u32, odd: u32)', added);
}

function add(sum: string, tap: number, pixels: string): string {
  return `${sum} = fma(vec4(taps[${tap >> 2}].${'xyzw'[tap % 4]}), ${pixels}, ${sum});`;
}

function inFunction(head: string, statements: readonly string[]): string {
  const zeros = sums.map((sum) => `var ${sum} = vec4(0f);`);
  const lines = [...zeros, ...statements, `return mat4x4(${sums.join(', ')});`];
  return `fn ${head} -> mat4x4<f32> {\n  ${lines.join('\n  ')}\n}`;
}
