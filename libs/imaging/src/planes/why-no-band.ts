import type { AskedBands } from './read-options.ts';

const mostListed = 8;

/** A sentence if an image of that many bands lacks the bands that are asked for; undefined if it has them. */
export function whyNoBand({ numbers, all }: AskedBands, bands: number, format: string): string | undefined {
  const has = `the ${format} has ${sayBands(bands)}`;
  if (all && numbers.length !== bands)
    return `The job reads all ${sayBands(numbers.length)} of its first input (--band all), and ${has}`;
  if (numbers.every((number) => number >= 1 && number <= bands)) return undefined;
  const listed = `${numbers.slice(0, mostListed).join(', ')}${numbers.length > mostListed ? ', …' : ''}`;
  return `The job reads ${numbers.length === 1 ? 'band' : 'bands'} ${listed} (--band), and ${has}`;
}

export const sayBands = (count: number): string => (count === 1 ? '1 band' : `${count} bands`);
