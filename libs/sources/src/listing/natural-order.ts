/**
 * Compares names as people number them: frame9 before frame10. Runs of digits compare by value, the rest by UTF-16 code
 * unit, so the order is the same in every locale; names that differ only in leading zeros compare by code unit. Nothing
 * is allocated: a folder may hold a million frames. Both names are compared from unit `from` on.
 */
export function compareNatural(a: string, b: string, from = 0): number {
  let i = from;
  let j = from;
  while (i < a.length && j < b.length) {
    if (isDigit(a, i) && isDigit(b, j)) {
      const endA = endOfDigits(a, i);
      const endB = endOfDigits(b, j);
      i = skipZeros(a, i, endA);
      j = skipZeros(b, j, endB);
      if (endA - i !== endB - j) return endA - i - (endB - j);
      for (; i < endA; i++, j++) {
        if (a.charCodeAt(i) !== b.charCodeAt(j)) return a.charCodeAt(i) - b.charCodeAt(j);
      }
    } else {
      if (a.charCodeAt(i) !== b.charCodeAt(j)) return a.charCodeAt(i) - b.charCodeAt(j);
      i++;
      j++;
    }
  }
  if (i < a.length || j < b.length) return a.length - i - (b.length - j);
  return a < b ? -1 : a > b ? 1 : 0;
}

function isDigit(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0x30 && code <= 0x39;
}

function endOfDigits(text: string, from: number): number {
  let end = from;
  while (end < text.length && isDigit(text, end)) end++;
  return end;
}

function skipZeros(text: string, from: number, end: number): number {
  let at = from;
  while (at < end && text.charCodeAt(at) === 0x30) at++;
  return at;
}
