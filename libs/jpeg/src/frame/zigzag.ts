/**
 * For each coefficient in zig-zag order, its index in a block, row by row. The order runs along diagonals, alternately
 * up and down.
 */
export const zigzag: readonly number[] = Array.from({ length: 64 }, (_, place) => place).sort((a, b) => {
  const [diagonalA, diagonalB] = [diagonalOf(a), diagonalOf(b)];
  if (diagonalA !== diagonalB) return diagonalA - diagonalB;
  return diagonalA % 2 === 1 ? a - b : b - a;
});

function diagonalOf(place: number): number {
  return (place >> 3) + (place & 7);
}
