import { isThorough } from './how-often.ts';

/**
 * A part of a long list of cases that do not depend on each other, in their order: every case with
 * HALOGRID_THOROUGH=1, otherwise `count` of them, others in each run. For lists of which each case has a test with a
 * name of its own, so that a failure says what to try again.
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
