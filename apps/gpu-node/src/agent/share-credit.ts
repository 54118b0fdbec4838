/** A coordinator that the node is attached to. */
export interface CreditUse {
  /** The most decoded bytes that it had leased to the node in the last seconds. */
  peakBytes: number;
}

/**
 * Each coordinator has at least this part of an equal share, so that it can begin. That leaves unused at most a quarter
 * of the share of each idle coordinator.
 */
const leastPart = 1 / 4;
/** A coordinator that uses all of its credit gets this many times as much at the next look, up to its share. */
const growth = 2;

/**
 * The credit of each coordinator in bytes. A single one has all of it. If there are several, those that lease little
 * get what they need, and the rest is divided equally among the others (max-min fairness). So no queue, however long,
 * takes the share of another. `totalBytes` is a whole number; the sum of the shares is at most that.
 */
export function shareCredit(totalBytes: number, uses: readonly CreditUse[]): number[] {
  if (uses.length === 1) return [totalBytes];
  const leastBytes = (totalBytes / uses.length) * leastPart;
  const wanted = uses.map(({ peakBytes }) => Math.max(leastBytes, peakBytes * growth));
  const shares = new Array<number>(uses.length).fill(0);
  let left = totalBytes;
  // The smallest wish is served first: what it leaves is shared by the others.
  const order = wanted.map((_, i) => i).sort((a, b) => wanted[a]! - wanted[b]!);
  for (const [served, i] of order.entries()) {
    const equalBytes = left / (uses.length - served);
    shares[i] = Math.floor(Math.min(wanted[i]!, equalBytes));
    left -= shares[i]!;
  }
  return shares;
}
