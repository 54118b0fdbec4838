import type { Definition, Outcome } from './contestant.ts';

/** The difference of the histograms of two contestants. */
export interface Comparison {
  names: [string, string];
  definition: Definition;
  /** Images or frames whose histograms differ. */
  unequal: number;
  of: number;
  /** The least number of pixels whose codes must differ. */
  differingPixels: number;
}

/** Compares histograms of the same inputs. Throws if the contestants have different numbers of them. */
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

/** A pixel with another code moves from one bin to another. A pixel that is not counted only leaves a bin. */
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
