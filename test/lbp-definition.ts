/** LBP by its definition, in plain loops. Results are compared with it. It uses no code of the program. */

export const borders = ['zero', 'replicate', 'reflect', 'mirror', 'wrap', 'interior'] as const;
export type Border = (typeof borders)[number];
export const conventions = ['nw-cw-msb', 'nw-cw-lsb'] as const;
export type Convention = (typeof conventions)[number];

export interface Picture<Pixels extends Uint8Array | Uint16Array = Uint8Array> {
  width: number;
  height: number;
  /** Gray, row by row. */
  pixels: Pixels;
}

/** Column and row of the neighbours NW, N, NE, E, SE, S, SW, W. */
const ring = [
  [-1, -1],
  [0, -1],
  [1, -1],
  [1, 0],
  [1, 1],
  [0, 1],
  [-1, 1],
  [-1, 0],
] as const;

/** The code of every pixel, and how often each code occurs among the pixels that count. */
export function lbpByDefinition(picture: Picture<Uint8Array | Uint16Array>, border: Border, convention: Convention) {
  const { width, height, pixels } = picture;
  const codes = new Uint8Array(width * height);
  const bins = new Array<number>(256).fill(0);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      if (border === 'interior' && (x === 0 || y === 0 || x === width - 1 || y === height - 1)) continue;
      let code = 0;
      ring.forEach(([dx, dy], i) => {
        const column = inside(x + dx, width, border);
        const row = inside(y + dy, height, border);
        const neighbour = column === 'outside' || row === 'outside' ? 0 : pixels[row * width + column]!;
        const bit = convention === 'nw-cw-msb' ? 7 - i : i;
        if (neighbour >= pixels[y * width + x]!) code |= 1 << bit;
      });
      codes[y * width + x] = code;
      bins[code]!++;
    }
  }
  return { codes, bins, counted: bins.reduce((sum, count) => sum + count, 0) };
}

/** The position that is read for position `i` in a line of `n` pixels; `i` is at most one beyond the ends. */
function inside(i: number, n: number, border: Border): number | 'outside' {
  if (i >= 0 && i < n) return i;
  const isBefore = i < 0;
  switch (border) {
    case 'replicate':
    case 'reflect': // ... b a | a b ...: one pixel beyond the edge is the edge itself
      return isBefore ? 0 : n - 1;
    case 'mirror': // ... c b | a b ...; a line of one pixel has nothing else to give
      return n === 1 ? 0 : isBefore ? 1 : n - 2;
    case 'wrap':
      return isBefore ? n - 1 : 0;
    default:
      return 'outside';
  }
}
