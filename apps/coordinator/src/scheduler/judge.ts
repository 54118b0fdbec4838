import type { Comparable } from './events.ts';

/** What several answers to one shard come to. */
export type Judgement<O> =
  /** Enough agree; those in `outvoted` do not. */
  | { kind: 'chosen'; candidate: O; outvoted: O[] }
  /** One answer more is needed. */
  | { kind: 'open'; isDisputed: boolean }
  /** So many were heard, and no two agree. */
  | { kind: 'undecidable' };

/** Answers of which no two agree, after which a shard is given up. */
const maxCandidates = 4;

/**
 * Chooses what two say, or one where `needed` is 1 and nobody else was asked. Candidates, at least one, in the order
 * they came.
 */
export function judge<O extends { answer: Comparable }>(candidates: readonly O[], needed: 1 | 2): Judgement<O> {
  // A digest is computed only where there is something to compare.
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
