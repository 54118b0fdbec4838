/** The place in a block, row by row, of each coefficient in zig-zag order: along diagonals, up and down in turns. */
export const zigzag: readonly number[] = Array.from({ length: 64 }, (_, place) => place).sort((a, b) => {
  const [diagonalA, diagonalB] = [diagonalOf(a), diagonalOf(b)];
  if (diagonalA !== diagonalB) return diagonalA - diagonalB;
  return diagonalA % 2 === 1 ? a - b : b - a;
});

function diagonalOf(place: number): number {
  return (place >> 3) + (place & 7);
}
