/** Random whole numbers below a bound, from a seed, by xorshift. */
export function randomSource(seed: number): (below: number) => number {
  let state = (seed | 0) === 0 ? 1 : seed | 0;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}
