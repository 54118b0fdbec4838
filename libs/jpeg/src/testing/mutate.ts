import { randomSource } from '@halogrid/imaging/testing-codes';

/**
 * The file with something wrong: bits flipped, a part cut out, the end cut off, or a part of `other` put into it; a seed
 * decides.
 */
export function mutate(jpeg: Uint8Array, other: Uint8Array, seed: number): Buffer {
  const random = randomSource(seed);
  const at = random(jpeg.length);
  const length = 1 + random(random(2) === 0 ? 4 : 200);
  switch (random(4)) {
    case 0: {
      const flipped = Buffer.from(jpeg);
      for (let i = 0; i <= random(3); i++) flipped[random(jpeg.length)]! ^= 1 << random(8);
      return flipped;
    }
    case 1:
      return Buffer.concat([jpeg.subarray(0, at), jpeg.subarray(at + length)]);
    case 2:
      return Buffer.from(jpeg.subarray(0, at));
    default: {
      const from = random(other.length);
      return Buffer.concat([
        jpeg.subarray(0, at),
        other.subarray(from, from + length),
        jpeg.subarray(at + random(200)),
      ]);
    }
  }
}
