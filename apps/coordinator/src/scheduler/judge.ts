import type { Comparable } from './events.ts';

/** The verdict on several answers to one shard. */
export type Judgement<O> =
  /** Enough agree; those in `outvoted` do not. */
  | { kind: 'chosen'; candidate: O; outvoted: O[] }
  /** One answer more is needed. */
  | { kind: 'open'; isDisputed: boolean }
  /** So many answers came, and no two agree. */
  | { kind: 'undecidable' };

/** How many answers may disagree, all with each other, before a shard is given up. */
const maxCandidates = 4;

/**
 * Chooses a result that two answers have, or one answer if `needed` is 1 and no other was requested. Candidates, at
 * least one, in the order of arrival.
 */
export function judge<O extends { answer: Comparable }>(candidates: readonly O[], needed: 1 | 2): Judgement<O> {
  // A digest is computed only where answers are compared.
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
