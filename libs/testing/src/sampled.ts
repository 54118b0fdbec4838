import { isThorough } from './how-often.ts';

/**
 * A part of a long list of cases that do not depend on each other, in their order: every case with
 * HALOGRID_THOROUGH=1, otherwise `count` of them, others in each run. A failure must say which case to try again, as by
 * the name of its test.
 */
export function sampled<Case>(cases: readonly Case[], count: number): Case[] {
  if (isThorough) return [...cases];
  let left = count;
  return cases.filter((_, i) => {
    const isChosen = Math.random() * (cases.length - i) < left;
    if (isChosen) left--;
    return isChosen;
  });
}
