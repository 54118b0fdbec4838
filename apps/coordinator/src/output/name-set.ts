/**
 * Names that are taken, 8 bytes each and as many to spare: by 64 bits of hash, because the names of a million files are more
 * than memory should hold. It never says that a taken name is free; of a million it says with a chance of 1 in 40 million that
 * a free one is taken, always of the same.
 */
export class NameSet {
  #hashes = new BigUint64Array(1024);
  #size = 0;

  /** Takes a name; false where it was taken before. */
  take(name: string): boolean {
    if (2 * this.#size >= this.#hashes.length) this.#grow();
    const hash = hashOf(name);
    const at = placeOf(hash, this.#hashes);
    if (this.#hashes[at] === hash) return false;
    this.#hashes[at] = hash;
    this.#size++;
    return true;
  }

  #grow(): void {
    const grown = new BigUint64Array(2 * this.#hashes.length);
    for (const hash of this.#hashes) if (hash !== 0n) grown[placeOf(hash, grown)] = hash;
    this.#hashes = grown;
  }
}

/** Where the hash is, or belongs. */
function placeOf(hash: bigint, hashes: BigUint64Array): number {
  const mask = hashes.length - 1;
  let at = Number(hash & 0xffffffffn) & mask;
  while (hashes[at] !== 0n && hashes[at] !== hash) at = (at + 1) & mask;
  return at;
}

/** Two FNV-1a hashes of 32 bits that begin differently and are mixed (as MurmurHash3 ends); never 0, which marks a free place. */
function hashOf(name: string): bigint {
  let [low, high] = [0x811c9dc5, 0x9747b28c];
  for (let i = 0; i < name.length; i++) {
    const unit = name.charCodeAt(i);
    low = Math.imul(low ^ unit, 0x01000193);
    high = Math.imul(high ^ unit, 0x85ebca6b) ^ (high >>> 15);
  }
  return (BigInt(mixed(high)) << 32n) | BigInt(mixed(low)) || 1n;
}

function mixed(value: number): number {
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}
