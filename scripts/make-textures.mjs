// Draws textures for `halogrid evaluate` (docs/retrieval.md): node scripts/make-textures.mjs OUT Ten patterns of three
// sizes are thirty classes. The twenty pictures of a class differ in position, rotation, size, light and noise.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { clamp, fractal, hash, mix } from './value-noise.mjs';

const side = 128;
const pictures = 20;
/** Pixels per unit of a pattern. */
const sizes = { small: 6, mid: 9, large: 14 };

const wave = (t) => 0.5 + 0.5 * Math.sin(2 * Math.PI * t);
const part = (t) => t - Math.floor(t);
/** 1 inside a shape of that radius, 0 outside, with a soft edge. */
const inside = (distance, radius) => clamp((radius - distance) * 6 + 0.5, 0, 1);

/**
 * Distances of the two nearest points. Each square has one point: in its middle if `scatter` is 0, anywhere in it if
 * `scatter` is 1.
 */
function nearestTwo(u, v, seed, scatter) {
  let [first, second] = [9, 9];
  for (let j = Math.floor(v) - 1; j <= Math.floor(v) + 1; j++) {
    for (let i = Math.floor(u) - 1; i <= Math.floor(u) + 1; i++) {
      const x = i + 0.5 + scatter * (hash(i, j, seed) - 0.5);
      const y = j + 0.5 + scatter * (hash(i, j, seed + 1) - 0.5);
      const distance = Math.hypot(u - x, v - y);
      if (distance < first) [first, second] = [distance, first];
      else if (distance < second) second = distance;
    }
  }
  return [first, second];
}

function bricks(u, v, seed) {
  const row = Math.floor(v);
  const along = u / 2 + (row % 2) / 2;
  const isJoint = part(v) < 0.15 || part(along) < 0.08;
  return isJoint ? 0 : 0.5 + 0.5 * hash(Math.floor(along), row, seed);
}

/** Brightness of a weave: threads alternate over and under each other. */
function weave(u, v) {
  const isOver = (Math.floor(u) + Math.floor(v)) % 2 === 0;
  const [across, along] = isOver ? [part(u), part(v)] : [part(v), part(u)];
  return Math.sin(Math.PI * across) * (0.6 + 0.4 * Math.sin(Math.PI * along));
}

/** Brightness of each pattern at a position in its units, nearly always from 0 to 1. */
const patterns = {
  bricks,
  cells: (u, v, seed) => {
    const [first, second] = nearestTwo(u / 1.5, v / 1.5, seed, 1);
    return clamp(2 * (second - first), 0, 1);
  },
  dots: (u, v, seed) => inside(nearestTwo(u, v, seed, 0.2)[0], 0.3),
  fibres: (u, v, seed) => fractal(2 * u, v / 4, 2, seed),
  grain: (u, v, seed) => fractal(u, v, 3, seed),
  marble: (u, v, seed) => wave(u / 2 + 2 * fractal(u / 4, v / 4, 4, seed)),
  ridges: (u, v, seed) => 1 - Math.abs(4 * fractal(u / 2, v / 2, 3, seed) - 2),
  stones: (u, v, seed) => inside(nearestTwo(u, v, seed, 0.8)[0], 0.4),
  waves: (u, v, seed) => wave(u + fractal(u / 8, v / 8, 1, seed)),
  weave,
};

/** The bytes of a picture. `seed` decides its position in the pattern, its rotation, size, light and noise. */
function draw(pattern, unit, seed) {
  const between = (low, high, k) => mix(low, high, hash(k, 0, seed + 50));
  const turn = between(-0.15, 0.15, 1);
  const scale = unit * between(0.9, 1.1, 2);
  const [left, top] = [between(0, 1000, 3), between(0, 1000, 4)];
  const contrast = between(50, 150, 5);
  const level = between(90, 160, 6);
  const lightFrom = between(0, 2 * Math.PI, 7);
  const slope = between(0, 0.6, 8);
  const noise = between(4, 24, 9);

  const bytes = new Uint8Array(side * side);
  for (let y = 0, at = 0; y < side; y++) {
    for (let x = 0; x < side; x++) {
      const u = left + (x * Math.cos(turn) - y * Math.sin(turn)) / scale;
      const v = top + (x * Math.sin(turn) + y * Math.cos(turn)) / scale;
      const light = 1 + slope * ((Math.cos(lightFrom) * x + Math.sin(lightFrom) * y) / side);
      const value = (level + contrast * (pattern(u, v, seed) - 0.5)) * light;
      bytes[at++] = clamp(Math.round(value + noise * (hash(x, y, seed + 51) - 0.5)), 0, 255);
    }
  }
  return bytes;
}

const [out] = process.argv.slice(2);
if (out === undefined) throw new Error('Expected a folder to write to: node scripts/make-textures.mjs OUT');
let number = 0;
for (const [name, pattern] of Object.entries(patterns)) {
  for (const [grade, pixels] of Object.entries(sizes)) {
    const folder = join(out, `${name}-${grade}`);
    mkdirSync(folder, { recursive: true });
    for (let i = 0; i < pictures; i++) {
      const bytes = draw(pattern, pixels, 100 * ++number);
      const file = join(folder, `${String(i).padStart(2, '0')}.png`);
      await sharp(bytes, { raw: { width: side, height: side, channels: 1 } })
        .toColourspace('b-w')
        .png()
        .toFile(file);
    }
  }
}
