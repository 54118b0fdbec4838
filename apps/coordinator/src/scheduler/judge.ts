import type { Comparable } from './events.ts';

/** The verdict on several answers to one shard. */
export type Judgement<O> =
  /** Enough agree; those in `outvoted` do not. */
  | { kind: 'chosen'; candidate: O; outvoted: O[] }
  /** One more answer is needed. */
  | { kind: 'open'; isDisputed: boolean }
  /** `maxCandidates` answers came, and no two agree. */
  | { kind: 'undecidable' };

/** How many answers may disagree, all with each other, before a shard is given up. */
const maxCandidates = 4;

/**
 * Chooses a result that two answers have, or the only answer if `needed` is 1. `candidates`: at least one, in the order
 * of arrival.
 */
export function judge<O extends { answer: Comparable }>(candidates: readonly O[], needed: 1 | 2): Judgement<O> {
  // Reading a digest computes it, so it is read only if answers are compared.
  if (candidates.length === 1) {
    return needed === 1
      ? { kind: 'chosen', candidate: candidates[0]!, outvoted: [] }
      : { kind: 'open', isDisputed: false };
  }
  for (const candidate of candidates) {
    const { digest } = candidate.answer;
    const outvoted = candidates.filter(({ answer }) => answer.digest !== digest);
    if (candidates.length - outvoted.length >= 2) return { kind: 'chosen', candidate, outvoted };
  }
  return candidates.length >= maxCandidates ? { kind: 'undecidable' } : { kind: 'open', isDisputed: true };
}
