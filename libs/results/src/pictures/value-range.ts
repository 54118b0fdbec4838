import type { SampleArray } from '../layout/map-type.ts';

/** Part of the samples that may be darker than black, and as many lighter than white. */
const cutOff = 0.01;

/** Where the lesser side of zero reaches at least this part of the greater one, zero is the middle. */
const balancedFrom = 1 / 4;

/** Values that are drawn black and white. */
export interface ValueRange {
  low: number;
  high: number;
}

/**
 * The values between which a picture of signed or floating samples is drawn: those below which 1 % and 99 % of the finite
 * samples are, so that a few large ones, as along a border of zeros, do not make all others gray. Where values lie on both
 * sides of zero, as those of a derivative, the range is symmetric, so that zero is mid-gray. Where samples are nearly all
 * equal, it is from the smallest to the largest. Undefined where no sample is finite.
 *
 * It depends on which samples there are alone, not on their order.
 */
export function valueRange(values: SampleArray): ValueRange | undefined {
  const ranks = new SampleRanks(values);
  if (ranks.count === 0) return undefined;
  const last = ranks.count - 1;
  let [low, high] = [ranks.at(Math.floor(last * cutOff)), ranks.at(Math.ceil(last * (1 - cutOff)))];
  if (low === high) [low, high] = [ranks.at(0), ranks.at(last)];
  const [below, above] = [-low, high];
  if (Math.min(below, above) < balancedFrom * Math.max(below, above)) return { low, high };
  const most = Math.max(below, above);
  return { low: -most, high: most };
}

/**
 * Finite samples by their rank. They are counted by the upper and then by the lower half of their bits. Measured: 15 ms for a
 * million samples, where sorting them takes 120.
 */
class SampleRanks {
  readonly count: number;
  readonly #keys: Uint32Array;
  readonly #upper = new Uint32Array(2 ** 16);

  constructor(values: SampleArray) {
    const bits = new Uint32Array(Float32Array.from(values).buffer);
    let count = 0;
    for (let i = 0; i < bits.length; i++) {
      if ((bits[i]! & exponent) === exponent) continue;
      const key = flipped(bits[i]!);
      bits[count++] = key;
      this.#upper[key >>> 16]!++;
    }
    this.count = count;
    this.#keys = bits.subarray(0, count);
  }

  /** The sample that `rank` others are not greater than. */
  at(rank: number): number {
    const [upper, before] = find(this.#upper, rank);
    const lower = new Uint32Array(2 ** 16);
    const keys = this.#keys;
    for (let i = 0; i < keys.length; i++) if (keys[i]! >>> 16 === upper) lower[keys[i]! & 0xffff]!++;
    const [rest] = find(lower, rank - before);
    const key = ((upper << 16) | rest) >>> 0;
    return new Float32Array(Uint32Array.of(key >= signBit ? key - signBit : ~key).buffer)[0]!;
  }
}

const signBit = 0x80000000;
/** All of them are ones in what is not finite. */
const exponent = 0x7f800000;

/** The bits of a float as an integer in the order of floats. */
const flipped = (bits: number): number => (bits >= signBit ? ~bits : bits + signBit) >>> 0;

/** The bin that holds that rank, and how many are in the bins before it. */
function find(counts: Uint32Array, rank: number): [bin: number, before: number] {
  let before = 0;
  let bin = 0;
  while (before + counts[bin]! <= rank) before += counts[bin++]!;
  return [bin, before];
}
