/** How many of the last answers count, and how many failures among them make a node suspect. */
const window = 10;
export const suspectFailures = 5;

/** How long a node is set aside the first time; twice as long each further time, up to the longest. */
const firstMs = 30_000;
const longestMs = 10 * 60_000;

/** After this many successes in a row, a node that was set aside has a clean record. */
const pardonAfter = 100;

/** The record of a node's last answers, and whether it is set aside because of them. */
export class NodeHealth {
  /** True for a failure; the oldest first. */
  #last: boolean[] = [];
  #timesAside = 0;
  #hasSucceeded = false;
  /** Shards that it failed before its first success, at most two. */
  readonly #failedFirst = new Set<unknown>();
  #goodSince = 0;
  asideUntilMs = Number.NEGATIVE_INFINITY;

  get answers(): number {
    return this.#last.length;
  }

  get failures(): number {
    return this.#last.filter(Boolean).length;
  }

  get isSuspect(): boolean {
    return this.failures >= suspectFailures;
  }

  /** How often it was set aside recently. */
  get timesAside(): number {
    return this.#timesAside;
  }

  /** It has computed something. */
  get isProven(): boolean {
    return this.#hasSucceeded;
  }

  /** It has never computed anything, and failed more than one shard, so the shards are hardly at fault. */
  get failsEverything(): boolean {
    return !this.#hasSucceeded && this.#failedFirst.size > 1;
  }

  isAside(now: number): boolean {
    return now < this.asideUntilMs;
  }

  /** Notes that the node has computed something for an earlier coordinator, as it says. */
  prove(): void {
    this.#hasSucceeded = true;
  }

  /** Records an answer; `shard` tells shards apart. */
  add(isFailure: boolean, shard?: unknown): void {
    if (!isFailure) this.#hasSucceeded = true;
    else if (!this.isProven && this.#failedFirst.size < 2) this.#failedFirst.add(shard);
    this.#last.push(isFailure);
    if (this.#last.length > window) this.#last.shift();
    this.#goodSince = isFailure ? 0 : this.#goodSince + 1;
    if (this.#goodSince >= pardonAfter) this.#timesAside = 0;
  }

  /** Sets the node aside and forgets its last answers; returns for how many milliseconds. */
  setAside(now: number): number {
    const forMs = Math.min(longestMs, firstMs * 2 ** this.#timesAside);
    this.#timesAside++;
    this.#last = [];
    this.asideUntilMs = now + forMs;
    return forMs;
  }
}

/**
 * Whether a suspect node is at fault, rather than the shards: it fails more than twice as often as all others together,
 * or it failed always and another node did not.
 */
export function isBadNode(node: NodeHealth, others: Iterable<NodeHealth>): boolean {
  if (!node.isSuspect) return false;
  let answers = 0;
  let failures = 0;
  for (const other of others) {
    answers += other.answers;
    failures += other.failures;
  }
  const share = node.failures / node.answers;
  if (failures === answers) return false;
  return share === 1 || failures / answers < share / 2;
}
