/** Some consecutive blocks of an index, for the node of that id. */
export interface Part {
  readonly node: string;
  readonly first: number;
  /** One more than the number of the last block. */
  readonly end: number;
}

/** A node that may have a part. */
export interface PartHolder {
  readonly id: string;
  /** Bytes a second in its last search; undefined if it has not searched yet. */
  readonly rate?: number | undefined;
}

/**
 * The least bytes of a part: a core searches as many in about 10 ms, and asking a node takes some milliseconds. An
 * index with fewer bytes is not shared out.
 */
export const leastPartBytes = 2 ** 24;

/**
 * A cut is kept until the slowest node would take so many times as long as with the best cut, because a GPU has its
 * part in its memory.
 */
const worthCutting = 2;

/**
 * Cuts an index into parts for nodes. Each node gets as many bytes as it searches in the same time. A node without a
 * rate counts as the mean of the others; if no node has one, all get the same. Nodes have their parts in the order of
 * their ids, so that the same nodes get the same parts. `sizes`: the bytes of the blocks; `previous`: the last cut.
 * Empty if no part is large enough.
 */
export function cutParts(
  sizes: readonly number[],
  holders: readonly PartHolder[],
  previous: readonly Part[] = [],
  least = leastPartBytes,
): Part[] {
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const count = Math.min(holders.length, Math.floor(total / least));
  if (count === 0) return [];
  const chosen = fastest(holders, count);
  const rates = ratesOf(chosen);
  if (isGoodEnough(sizes, previous, chosen, rates)) return [...previous];
  return cutByRates(sizes, chosen, rates);
}

/** The fastest nodes; nodes without a known rate come first, by their ids. */
function fastest(holders: readonly PartHolder[], count: number): PartHolder[] {
  const byId = holders.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const rate = (holder: PartHolder): number => holder.rate ?? Number.MAX_VALUE;
  const chosen = new Set(byId.toSorted((a, b) => rate(b) - rate(a)).slice(0, count));
  return byId.filter((holder) => chosen.has(holder));
}

function ratesOf(holders: readonly PartHolder[]): number[] {
  const known = holders.flatMap(({ rate }) => rate ?? []);
  const mean = known.length === 0 ? 1 : known.reduce((sum, rate) => sum + rate, 0) / known.length;
  return holders.map(({ rate = mean }) => rate);
}

function isGoodEnough(
  sizes: readonly number[],
  parts: readonly Part[],
  holders: readonly PartHolder[],
  rates: readonly number[],
): boolean {
  const isSame = parts.length === holders.length && parts.every(({ node }, i) => node === holders[i]!.id);
  if (!isSame || parts.at(-1)?.end !== sizes.length) return false;
  const bytes = parts.map(({ first, end }) => sizes.slice(first, end).reduce((sum, size) => sum + size, 0));
  const slowest = Math.max(...bytes.map((size, i) => size / rates[i]!));
  const best = bytes.reduce((sum, size) => sum + size, 0) / rates.reduce((sum, rate) => sum + rate, 0);
  return slowest <= worthCutting * best;
}

function cutByRates(sizes: readonly number[], holders: readonly PartHolder[], rates: readonly number[]): Part[] {
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const allRates = rates.reduce((sum, rate) => sum + rate, 0);
  const parts: Part[] = [];
  let [first, bytes, share] = [0, 0, 0];
  for (const [i, { id: node }] of holders.entries()) {
    share += rates[i]!;
    const isLast = i === holders.length - 1;
    let end = first;
    // A block goes to the node that would have most of it.
    while (end < sizes.length && (isLast || bytes + sizes[end]! / 2 <= (total * share) / allRates))
      bytes += sizes[end++]!;
    if (end > first) parts.push({ node, first, end });
    first = end;
  }
  return parts;
}
