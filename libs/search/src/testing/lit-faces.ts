import { noise } from './make-job.ts';

/** A drawn face, gray. */
export interface LitFace {
  person: number;
  width: number;
  height: number;
  pixels: Uint8Array;
}

const side = 80;

/** How bright and how large a part of a face is, and where, in shares of the picture; brightness adds up. */
interface Part {
  x: number;
  y: number;
  width: number;
  height: number;
  light: number;
}

/** Where one person's features are; no two persons share them. */
function partsOf(random: (below: number) => number): Part[] {
  const between = (low: number, high: number): number => low + ((high - low) * random(1000)) / 1000;
  const [apart, eyes, mouth] = [between(0.13, 0.2), between(0.36, 0.46), between(0.68, 0.78)];
  const [eye, brow] = [between(0.03, 0.05), between(0.07, 0.12)];
  const pair = (part: Omit<Part, 'x'>, from: number): Part[] => [0.5 - from, 0.5 + from].map((x) => ({ ...part, x }));
  return [
    { x: 0.5, y: 0.52, width: between(0.24, 0.3), height: between(0.33, 0.4), light: 90 },
    ...pair({ y: eyes, width: eye * 1.6, height: eye, light: -60 }, apart),
    ...pair({ y: eyes - brow, width: 0.08, height: between(0.012, 0.025), light: -50 }, apart),
    { x: 0.5, y: between(0.54, 0.6), width: between(0.02, 0.04), height: between(0.08, 0.12), light: 30 },
    { x: 0.5, y: mouth, width: between(0.07, 0.13), height: between(0.015, 0.035), light: -55 },
    // Marks of the skin, which nobody shares.
    ...Array.from({ length: 12 }, () => ({
      x: between(0.3, 0.7),
      y: between(0.25, 0.8),
      width: 0.02,
      height: 0.02,
      light: between(-15, 15),
    })),
  ];
}

/**
 * Faces of some persons, each under as many lights: from any side, brighter and darker, with the noise of a sensor.
 * Equal numbers give equal faces.
 */
export function* litFaces(persons: number, lights: number): Generator<LitFace> {
  for (let person = 0; person < persons; person++) {
    const parts = partsOf(noise(person + 1));
    const random = noise(1000 + person);
    for (let light = 0; light < lights; light++) {
      const [angle, slope, gain] = [(2 * Math.PI * random(360)) / 360, random(100) / 125, 0.5 + random(100) / 130];
      const pixels = new Uint8Array(side * side);
      for (let y = 0; y < side; y++) {
        for (let x = 0; x < side; x++) {
          const [u, v] = [x / side, y / side];
          const of = (part: Part): number =>
            part.light * Math.exp(-(((u - part.x) / part.width) ** 2 + ((v - part.y) / part.height) ** 2) / 2);
          const albedo = 60 + parts.reduce((sum, part) => sum + of(part), 0);
          const lit = albedo * gain * (1 + slope * ((u - 0.5) * 2 * Math.cos(angle) + (v - 0.5) * 2 * Math.sin(angle)));
          pixels[y * side + x] = Math.max(0, Math.min(255, Math.round(lit + random(5) - 2)));
        }
      }
      yield { person, width: side, height: side, pixels };
    }
  }
}
