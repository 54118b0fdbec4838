/** Bytes of every value in no order, by xorshift: the same for the same seed, which must not be 0. */
export function randomBytes(count: number, seed: number): Uint8Array {
  const words = new Uint32Array(Math.ceil(count / 4));
  let state = seed;
  for (let i = 0; i < words.length; i++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    words[i] = state;
  }
  return new Uint8Array(words.buffer, 0, count);
}

/**
 * A square matrix of numbers from -1 to 1 as JSON, the same for the same side. It has full rank, so kernels have no
 * shortcut for it.
 */
export function randomMatrix(side: number): string {
  let state = side;
  const entry = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Number((state / 2 ** 31 - 1).toFixed(6));
  };
  return JSON.stringify(Array.from({ length: side }, () => Array.from({ length: side }, entry)));
}
