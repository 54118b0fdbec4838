import type { RulesOfOwners } from '@halogrid/service';
import type { OwnerCredits } from '../scheduler/events.ts';

/** What rules say about the credit of owners: the same object until the rules change. */
export function ownerCredits(rules: () => RulesOfOwners): () => OwnerCredits {
  let of: RulesOfOwners | undefined;
  let credits: OwnerCredits;
  return () => {
    const now = rules();
    if (now !== of) {
      const named = new Map([...now.named].map(([owner, { creditBytes }]) => [owner, creditBytes]));
      credits = { named, others: now.others.creditBytes };
      of = now;
    }
    return credits;
  };
}
