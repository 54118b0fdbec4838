import type { SeededRandom } from '../../apps/coordinator/src/testing/simulation/seeded-random.ts';

// Changes that do not depend on any format. Each makes a changed file from a file, which must not be empty.

export type Mutation = (bytes: Buffer, random: SeededRandom) => Buffer;

/**
 * Begin and end of a random range of at most `most` bytes. Half of the ranges are in the first bytes, which are
 * headers.
 */
function someRun(bytes: Buffer, random: SeededRandom, most: number): [from: number, to: number] {
  const from = random.whole(0, (random.chance(0.5) ? bytes.length : Math.min(bytes.length, 400)) - 1);
  return [from, Math.min(bytes.length, from + random.whole(1, most))];
}

const noise = (length: number, random: SeededRandom): Buffer =>
  Buffer.from(Array.from({ length }, () => random.whole(0, 255)));

/** Replaces a range of bytes by `put`. */
const splice = (bytes: Buffer, [from, to]: readonly [number, number], put: Buffer = Buffer.alloc(0)): Buffer =>
  Buffer.concat([bytes.subarray(0, from), put, bytes.subarray(to)]);

export const byteMutations: Record<string, Mutation> = {
  'flipped bits': (bytes, random) => {
    const changed = Buffer.from(bytes);
    for (let i = random.whole(1, 8); i > 0; i--) changed[random.whole(0, bytes.length - 1)]! ^= 1 << random.whole(0, 7);
    return changed;
  },
  noise: (bytes, random) => {
    const run = someRun(bytes, random, 64);
    return splice(bytes, run, noise(run[1] - run[0], random));
  },
  zeros: (bytes, random) => {
    const run = someRun(bytes, random, 2_048);
    return splice(bytes, run, Buffer.alloc(run[1] - run[0]));
  },
  // Also cuts off only a few bytes, or nearly everything.
  'cut off': (bytes, random) => {
    const length = random.pick([
      random.whole(0, bytes.length),
      bytes.length - random.whole(1, 16),
      random.whole(0, 64),
    ]);
    return bytes.subarray(0, Math.max(0, length));
  },
  insertion: (bytes, random) => {
    const [at] = someRun(bytes, random, 1);
    return splice(bytes, [at, at], noise(random.whole(1, 64), random));
  },
  deletion: (bytes, random) => splice(bytes, someRun(bytes, random, random.pick([4, 512]))),
  'a block twice': (bytes, random) => {
    const [from, to] = someRun(bytes, random, 1_024);
    return splice(bytes, [to, to], bytes.subarray(from, to));
  },
  'swapped blocks': (bytes, random) => {
    const [a, b, c] = [0, 0, 0].map(() => random.whole(0, bytes.length)).sort((x, y) => x - y);
    const end = Math.min(bytes.length, c! + (c! - b!));
    const [front, left, right] = [bytes.subarray(0, a), bytes.subarray(a, b), bytes.subarray(b, end)];
    return Buffer.concat([front, right, left, bytes.subarray(end)]);
  },
  'an edge number': (bytes, random) => {
    const changed = Buffer.from(bytes);
    const size = random.pick([1, 2, 4, 8]);
    const [at] = someRun(bytes, random, 1);
    return writeNumber(changed, Math.max(0, Math.min(at, bytes.length - size)), size, random);
  },
};

/**
 * Writes an edge number of `size` bytes at `at`: 0, 1, or a value near the largest signed or unsigned one, in either
 * byte order.
 */
export function writeNumber(bytes: Buffer, at: number, size: number, random: SeededRandom): Buffer {
  const max = 256n ** BigInt(size) - 1n;
  const value = random.pick([0n, 1n, max, max - 1n, max >> 1n, (max >> 1n) + 1n]);
  const digits = Array.from({ length: size }, (_, i) => Number((value >> BigInt(8 * i)) & 255n));
  if (random.chance(0.5)) digits.reverse();
  for (const [i, digit] of digits.entries()) if (at + i < bytes.length) bytes[at + i] = digit;
  return bytes;
}

/** Joins the beginning of one file with the end of another. */
export function spliceHalves(first: Buffer, second: Buffer, random: SeededRandom): Buffer {
  const part = random.next();
  const [end, start] = [first.length, second.length].map((length) => Math.floor(length * part));
  return Buffer.concat([first.subarray(0, end), second.subarray(start!)]);
}
