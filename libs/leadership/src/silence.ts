import type { Member } from '@halogrid/ledger';
import { askEveryMs, leaseMs } from './lease-keeping.ts';

/**
 * If the registry, which is asked once a second, gives no answer for so many milliseconds, it may have been unreachable
 * for other members too.
 */
export const gapMs = 2 * askEveryMs;

/**
 * How many milliseconds a member gets if it may have lost the registry too: one attempt that hangs, the pause after it,
 * one more attempt, and the same time again for a busy machine.
 */
export const graceMs = 4 * leaseMs;

/** For how long a member was silent while the registry answered this member. */
export interface Silence {
  /** When the member renewed its lease last, by the registry's clock. */
  renewedAtMs: number;
  /**
   * Milliseconds of silence that count. Time in which the registry was unreachable does not count, because no member
   * could be heard of.
   */
  heardMs: number;
  /** Whether the registry may have been unreachable since the last renewal. */
  isBroken: boolean;
}

/**
 * The silence of each member after an answer of the registry with `members`, which came `sinceMs` after the answer
 * before. `hasFailed`: a question in between had no answer. A gap counts as one interval. So if a busy machine makes
 * every interval a gap, it only takes longer until a member counts as gone.
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
  // A silence before the first look of this member is unknown.
  if (!last) return { renewedAtMs, heardMs: 0, isBroken: isGap };
  if (last.renewedAtMs !== renewedAtMs) return { renewedAtMs, heardMs: Math.min(silentMs, moreMs), isBroken: isGap };
  return { renewedAtMs, heardMs: last.heardMs + moreMs, isBroken: last.isBroken || isGap };
}

/** Whether a member whose lease is over had enough time to renew it. */
export const isLongEnough = ({ heardMs, isBroken }: Silence): boolean => heardMs >= (isBroken ? graceMs : leaseMs);
