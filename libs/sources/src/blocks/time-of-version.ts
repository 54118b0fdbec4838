const [dot, zero, nine] = [0x2e, 0x30, 0x39];

/**
 * Two different numbers with so many digits are two different doubles, and each double is printed as its number was.
 */
const mostDigits = 15;

/** Divisors for the digits behind a dot: the number is exact until it is divided. */
const scales = Array.from({ length: mostDigits }, (_, digits) => 10 ** digits);

/**
 * The time of a version that consists of that size and a time, as JavaScript prints both; undefined for other versions.
 */
export function timeOf(version: string, sizeBytes: number): number | undefined {
  const begin = version.indexOf(' ') + 1;
  const size = String(sizeBytes);
  if (begin !== size.length + 1 || !version.startsWith(size)) return undefined;
  return plainTime(version, begin) ?? printedTime(version, begin);
}

/**
 * A time of few digits, as whole seconds and milliseconds have, which JavaScript prints in the same way; undefined for
 * other times. Printing each time to compare it took a tenth of a plan's time (measured).
 */
function plainTime(version: string, begin: number): number | undefined {
  const length = version.length - begin;
  const first = version.charCodeAt(begin);
  if (length === 0 || length > mostDigits || first <= zero || first > nine) return undefined;
  let [digits, dotAt] = [0, 0];
  for (let at = begin; at < version.length; at++) {
    const unit = version.charCodeAt(at);
    if (unit >= zero && unit <= nine) digits = 10 * digits + unit - zero;
    else if (unit === dot && dotAt === 0) dotAt = at;
    else return undefined;
  }
  if (dotAt === 0) return digits;
  // A zero or nothing behind the dot is not printed.
  const last = version.charCodeAt(version.length - 1);
  return last === zero || last === dot ? undefined : digits / scales[version.length - 1 - dotAt]!;
}

/** A text that JavaScript prints differently is not a time. */
function printedTime(version: string, begin: number): number | undefined {
  const text = version.slice(begin);
  const time = Number(text);
  return Number.isFinite(time) && String(time) === text ? time : undefined;
}
