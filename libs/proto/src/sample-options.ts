import type { BandOptions, ScaleOptions } from './gen/halogrid/v1/job.ts';

/** The highest number of a band: TIFF counts samples in 16 bits. */
export const maxBand = 65535;

/** The most bands of a job: each has results of its own. */
export const maxBands = 1024;

/** What `areBands` accepts, in words. */
export const allowedBands = `numbers from 1 to ${maxBand}, each once and ${maxBands} at most,`;

/** Whether a job can read bands of these numbers. */
export const areBands = (numbers: readonly number[]): boolean =>
  numbers.length > 0 &&
  numbers.length <= maxBands &&
  new Set(numbers).size === numbers.length &&
  numbers.every((number) => Number.isInteger(number) && number >= 1 && number <= maxBand);

/** Bands as their option is written: `1,2,4` or `all`. */
export const bandsText = ({ numbers, all }: BandOptions): string => (all ? 'all' : numbers.join(','));

/** The bits of pixels that a scale makes. */
export const scaleBits: readonly number[] = [8, 16];

/** What `isScale` accepts, in words. */
export const allowedScale = 'two numbers, the lower one first, and u8 or u16, as in -1,1 or 0,3000,u16,';

/** Whether a scale has two finite values in ascending order with a finite distance, and bits that pixels may have. */
export function isScale({ min, max, bits }: ScaleOptions): boolean {
  return min < max && Number.isFinite(min) && Number.isFinite(max - min) && scaleBits.includes(bits);
}

/** A scale as its option is written. */
export const scaleText = ({ min, max, bits }: ScaleOptions): string => `${min},${max},u${bits}`;
