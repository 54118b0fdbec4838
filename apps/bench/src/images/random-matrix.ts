/** A square matrix of numbers from -1 to 1 as JSON, the same for the same side: of full rank, so that no shortcut exists. */
export function randomMatrix(side: number): string {
  let state = side;
  const entry = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Number((state / 2 ** 31 - 1).toFixed(6));
  };
  return JSON.stringify(Array.from({ length: side }, () => Array.from({ length: side }, entry)));
}
