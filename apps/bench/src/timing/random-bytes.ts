/** Bytes of every value in no order, by xorshift: the same for the same seed, which is not 0. */
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
