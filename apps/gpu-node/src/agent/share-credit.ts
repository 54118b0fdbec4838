/** What there is to say of a coordinator that a node is attached to. */
export interface CreditUse {
  /** The most bytes that it had leased to the node in the last seconds. */
  peakBytes: number;
}

/**
 * Each coordinator has this part of an equal share at least, so that it can begin: a quarter of what the others leave
 * idle is lost.
 */
const leastPart = 1 / 4;
/** Whoever uses all of its credit has so many times that the next time, up to its share. */
const growth = 2;

/**
 * The credit of each coordinator: all of it where there is one. Of several, one that leases little has what it needs
 * and the rest is divided equally among the others (max-min fairness), so that no queue, however long, takes the share
 * of another. `totalBytes` is a whole number; the sum of the shares is at most that.
 */
export function shareCredit(totalBytes: number, uses: readonly CreditUse[]): number[] {
  if (uses.length === 1) return [totalBytes];
  const leastBytes = (totalBytes / uses.length) * leastPart;
  const wanted = uses.map(({ peakBytes }) => Math.max(leastBytes, peakBytes * growth));
  const shares = new Array<number>(uses.length).fill(0);
  let left = totalBytes;
  // Whoever wants the least is served first: what it leaves is there for the others.
  const order = wanted.map((_, i) => i).sort((a, b) => wanted[a]! - wanted[b]!);
  for (const [served, i] of order.entries()) {
    const equalBytes = left / (uses.length - served);
    shares[i] = Math.floor(Math.min(wanted[i]!, equalBytes));
    left -= shares[i]!;
  }
  return shares;
}
