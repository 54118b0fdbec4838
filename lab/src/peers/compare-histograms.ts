import type { Definition, Outcome } from './contestant.ts';

/** How far the histograms of two contestants are apart. */
export interface Comparison {
  names: [string, string];
  definition: Definition;
  /** Images or frames whose histograms differ. */
  unequal: number;
  of: number;
  /** Pixels that must have another code for the histograms to be as they are, at least. */
  differingPixels: number;
}

/** Histograms of the same inputs. Throws where one contestant has not as many as the other. */
export function compareHistograms(
  definition: Definition,
  names: [string, string],
  [a, b]: [Outcome, Outcome],
): Comparison {
  const of = a.histograms.length;
  if (of === 0 || b.histograms.length !== of) {
    throw new Error(`${names[0]} has ${of} histograms but ${names[1]} has ${b.histograms.length}`);
  }
  const moved = a.histograms.map((bins, i) => differingPixels(bins, b.histograms[i]!));
  return {
    names,
    definition,
    of,
    unequal: moved.filter((pixels) => pixels > 0).length,
    differingPixels: moved.reduce((sum, pixels) => sum + pixels, 0),
  };
}

/** A pixel with another code takes one from a bin and gives it to another; one that is not counted only takes. */
function differingPixels(a: number[], b: number[]): number {
  let more = 0;
  let fewer = 0;
  a.forEach((count, bin) => {
    if (count > b[bin]!) more += count - b[bin]!;
    else fewer += b[bin]! - count;
  });
  return Math.max(more, fewer);
}

export function describeComparison({ names, unequal, of, definition, differingPixels }: Comparison): string {
  const pair = `${names[0]} and ${names[1]} (${definition})`;
  if (unequal === 0) return `equal, bin by bin: ${pair}, ${of} of ${of} histograms`;
  return `NOT equal: ${pair}, ${unequal} of ${of} histograms, ${differingPixels} pixels at least`;
}
