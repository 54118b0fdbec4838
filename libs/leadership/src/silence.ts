import type { Member } from '@halogrid/ledger';
import { askEveryMs, leaseMs } from './lease-keeping.ts';

/**
 * After so long without an answer of the registry, which is asked once a second, it may have been away, from others as
 * well.
 */
export const gapMs = 2 * askEveryMs;

/**
 * Who may have been cut off with the registry is waited for this long: for an attempt to reach it that hangs, the pause
 * after it, one more attempt, and as long again for a busy machine.
 */
export const graceMs = 4 * leaseMs;

/** For how long a member was not heard of, as far as the registry answered this one meanwhile. */
export interface Silence {
  /** When the member renewed its lease last, by the registry's clock. */
  renewedAtMs: number;
  /** Milliseconds that count: while the registry is away, nobody can be heard of. */
  heardMs: number;
  /** The registry may have been away since. */
  isBroken: boolean;
}

/**
 * What is known of each member's silence once the registry has answered with `members`, `sinceMs` after its answer
 * before; `hasFailed` says that it could not be asked in between. A gap counts as one interval: where a busy machine
 * makes every interval a gap, it takes longer until a member is believed to be gone, and not forever.
 */
export function hear(
  before: ReadonlyMap<number, Silence>,
  members: readonly Member[],
  { sinceMs, hasFailed }: { sinceMs: number; hasFailed: boolean },
): Map<number, Silence> {
  const isFirst = before.size === 0;
  const isGap = hasFailed || (sinceMs > gapMs && !isFirst);
  const moreMs = isGap ? Math.min(askEveryMs, sinceMs) : sinceMs;
  return new Map(members.map((member) => [member.epoch, silenceOf(before.get(member.epoch), member, moreMs, isGap)]));
}

function silenceOf(last: Silence | undefined, member: Member, moreMs: number, isGap: boolean): Silence {
  const { renewedAtMs, silentMs } = member;
  // What was before this member looked is not known.
  if (!last) return { renewedAtMs, heardMs: 0, isBroken: isGap };
  if (last.renewedAtMs !== renewedAtMs) return { renewedAtMs, heardMs: Math.min(silentMs, moreMs), isBroken: isGap };
  return { renewedAtMs, heardMs: last.heardMs + moreMs, isBroken: last.isBroken || isGap };
}

/** Whether a member whose lease is over had every chance to say that it is there. */
export const isLongEnough = ({ heardMs, isBroken }: Silence): boolean => heardMs >= (isBroken ? graceMs : leaseMs);
