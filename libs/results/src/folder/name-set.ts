/**
 * A set of taken names that keeps 64 bits of hash for each, in 16 to 32 bytes, because the names of a million files
 * would take too much memory. A taken name is never reported free. With a million names, a free one is reported taken
 * with a chance of 1 in 40 million, and always the same one.
 */
export class NameSet {
  /** Two halves of a hash per place, the low one first; both are 0 in a free place. */
  #hashes = new Uint32Array(2048);
  #size = 0;

  /** Takes a name. Returns false if it was taken before. */
  take(name: string): boolean {
    if (4 * this.#size >= this.#hashes.length) this.#grow();
    // Two FNV-1a hashes that begin differently and are mixed.
    let [low, high] = [0x811c9dc5, 0x9747b28c];
    for (let i = 0; i < name.length; i++) {
      const unit = name.charCodeAt(i);
      low = Math.imul(low ^ unit, 0x01000193);
      high = Math.imul(high ^ unit, 0x85ebca6b) ^ (high >>> 15);
    }
    if (!put(this.#hashes, mixed(low), mixed(high))) return false;
    this.#size++;
    return true;
  }

  #grow(): void {
    const before = this.#hashes;
    this.#hashes = new Uint32Array(2 * before.length);
    for (let at = 0; at < before.length; at += 2) {
      if (before[at]! > 0 || before[at + 1]! > 0) put(this.#hashes, before[at]!, before[at + 1]!);
    }
  }
}

/** Adds a hash. Returns false if it is there already. */
function put(hashes: Uint32Array, given: number, high: number): boolean {
  const low = given === 0 && high === 0 ? 1 : given;
  const mask = hashes.length / 2 - 1;
  for (let place = low & mask; ; place = (place + 1) & mask) {
    const at = 2 * place;
    if (hashes[at] === low && hashes[at + 1] === high) return false;
    if (hashes[at] === 0 && hashes[at + 1] === 0) {
      hashes[at] = low;
      hashes[at + 1] = high;
      return true;
    }
  }
}

/** The last steps of MurmurHash3. */
function mixed(value: number): number {
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}
