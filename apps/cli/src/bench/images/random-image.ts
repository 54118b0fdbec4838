/** Interleaved 8-bit RGB of every value in no order, by xorshift: the same for the same size and index (1, 2, …). */
export function randomImage({ width, height }: { width: number; height: number }, index: number): Uint8Array {
  const bytes = width * height * 3;
  const words = new Uint32Array(Math.ceil(bytes / 4));
  // Any state but 0 will do; multiplied, neighbouring indices begin far apart.
  let state = Math.imul(index, 0x9e3779b9) | 1;
  for (let i = 0; i < words.length; i++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    words[i] = state;
  }
  return new Uint8Array(words.buffer, 0, bytes);
}
