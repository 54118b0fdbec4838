import type { Comparable } from './events.ts';

/** What several opinions about one shard come to. */
export type Verdict<O> =
  /** Enough agree; those in `outvoted` do not. */
  | { kind: 'believed'; opinion: O; outvoted: O[] }
  /** One opinion more is needed. */
  | { kind: 'open'; isDisputed: boolean }
  /** So many were heard, and no two agree. */
  | { kind: 'undecidable' };

/** Opinions of which no two agree, after which a shard is given up. */
const maxOpinions = 4;

/** Believes what two say, or one where `needed` is 1 and nobody else was asked. Opinions, at least one, in the order they came. */
export function judge<O extends { answer: Comparable }>(opinions: readonly O[], needed: 1 | 2): Verdict<O> {
  // A digest is computed only where there is something to compare.
  if (opinions.length === 1) {
    return needed === 1
      ? { kind: 'believed', opinion: opinions[0]!, outvoted: [] }
      : { kind: 'open', isDisputed: false };
  }
  for (const opinion of opinions) {
    const { digest } = opinion.answer;
    const outvoted = opinions.filter(({ answer }) => answer.digest !== digest);
    if (opinions.length - outvoted.length >= 2) return { kind: 'believed', opinion, outvoted };
  }
  return opinions.length >= maxOpinions ? { kind: 'undecidable' } : { kind: 'open', isDisputed: true };
}
