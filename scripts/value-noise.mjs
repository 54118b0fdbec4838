// Noise for drawing samples; it is the same on every machine.

/** A number in [0, 1) for a lattice point: the same for the same point and seed. */
export function hash(x, y, seed) {
  let h = (Math.imul(x, 0x27d4eb2d) ^ Math.imul(y, 0x165667b1) ^ Math.imul(seed, 0x9e3779b1)) >>> 0;
  h = Math.imul(h ^ (h >>> 15), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return ((h ^ (h >>> 16)) >>> 0) / 2 ** 32;
}

const smooth = (t) => t * t * (3 - 2 * t);
export const mix = (a, b, t) => a + (b - a) * t;
export const clamp = (v, low, high) => Math.min(high, Math.max(low, v));

/** Value noise in [0, 1): random lattice points, smoothly joined. */
function noise(x, y, seed) {
  const i = Math.floor(x);
  const j = Math.floor(y);
  const u = smooth(x - i);
  const top = mix(hash(i, j, seed), hash(i + 1, j, seed), u);
  const bottom = mix(hash(i, j + 1, seed), hash(i + 1, j + 1, seed), u);
  return mix(top, bottom, smooth(y - j));
}

/** Octaves of noise, each twice as fine and half as strong; in [0, 1). */
export function fractal(x, y, octaves, seed) {
  let sum = 0;
  let range = 0;
  for (let k = 0; k < octaves; k++) {
    sum += noise(x * 2 ** k, y * 2 ** k, seed + k) / 2 ** k;
    range += 1 / 2 ** k;
  }
  return sum / range;
}
