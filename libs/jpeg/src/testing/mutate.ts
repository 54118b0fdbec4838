import { randomSource } from '@halogrid/imaging/testing-codes';

/**
 * The file with a fault that the seed chooses: flipped bits, a part cut out, the end cut off, a part of `other`
 * inserted, or bytes of `other` inserted before a marker.
 */
export function mutate(jpeg: Uint8Array, other: Uint8Array, seed: number): Buffer {
  const random = randomSource(seed);
  const at = random(jpeg.length);
  const length = 1 + random(random(2) === 0 ? 4 : 200);
  switch (random(5)) {
    case 0: {
      const flipped = Buffer.from(jpeg);
      for (let i = 0; i <= random(3); i++) flipped[random(jpeg.length)]! ^= 1 << random(8);
      return flipped;
    }
    case 1:
      return Buffer.concat([jpeg.subarray(0, at), jpeg.subarray(at + length)]);
    case 2:
      return Buffer.from(jpeg.subarray(0, at));
    case 3: {
      const markers = markersOf(jpeg);
      const place = markers[random(markers.length)] ?? at;
      const from = random(other.length);
      return Buffer.concat([jpeg.subarray(0, place), other.subarray(from, from + length), jpeg.subarray(place)]);
    }
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

/** The offsets of FF bytes that are followed by neither 0 nor another FF. */
const markersOf = (jpeg: Uint8Array): number[] =>
  [...jpeg.keys()].filter((at) => jpeg[at] === 0xff && jpeg[at + 1] !== 0 && jpeg[at + 1] !== 0xff);
