/** A varint of a count below 2^53 takes at most this many bytes. */
export const maxVarintBytes = 8;

/**
 * Writes integers from 0 to 2^53 - 1 as varints from byte `at` on: 7 bits a byte, the lowest first, with bit 7 set in
 * all bytes but an integer's last. Returns the offset behind the last one.
 */
export function writeVarints(values: ArrayLike<number>, bytes: Uint8Array, at: number): number {
  for (let i = 0; i < values.length; i++) {
    let high = values[i]!;
    // Most counts of a frame have one byte or two, which are written without a loop.
    if (high < 0x4000) {
      if (high > 0x7f) {
        bytes[at++] = high | 0x80;
        high >>>= 7;
      }
      bytes[at++] = high;
      continue;
    }
    while (high >= 2 ** 32) {
      // `&` takes the lowest 32 bits of any integer.
      bytes[at++] = (high & 0x7f) | 0x80;
      high = Math.floor(high / 0x80);
    }
    // Counts mostly have 32 bits at most, for which integer instructions take half the time.
    let value = high >>> 0;
    while (value > 0x7f) {
      bytes[at++] = value | 0x80;
      value >>>= 7;
    }
    bytes[at++] = value;
  }
  return at;
}

/** How many bytes `writeVarints` writes for `values`. */
export function varintsLength(values: ArrayLike<number>): number {
  let length = 0;
  for (let i = 0; i < values.length; i++) length += varintLength(values[i]!);
  return length;
}

/** How many bytes `writeVarints` writes for `value`. */
export function varintLength(value: number): number {
  if (value < 2 ** 7) return 1;
  if (value < 2 ** 14) return 2;
  if (value < 2 ** 21) return 3;
  if (value < 2 ** 28) return 4;
  let length = 5;
  for (let rest = Math.floor(value / 2 ** 28); rest >= 0x80; rest = Math.floor(rest / 0x80)) length++;
  return length;
}

/**
 * The offset behind `count` varints that begin at `at`; each ends at a byte without bit 7. Bytes behind the end count
 * as 0.
 */
export function skipVarints(bytes: Uint8Array, at: number, count: number): number {
  for (let left = count; left > 0; at++) if (!(bytes[at]! >= 0x80)) left--;
  return at;
}

/**
 * Fills `values` with varints from byte `at` on; returns the offset behind the last one. Bytes behind the end count as
 * 0.
 */
export function readVarints(bytes: Uint8Array, at: number, values: Float64Array): number {
  for (let i = 0; i < values.length; i++) {
    let byte = bytes[at++]!;
    let value = byte & 0x7f;
    for (let scale = 0x80; byte >= 0x80; scale *= 0x80) {
      byte = bytes[at++]!;
      value += (byte & 0x7f) * scale;
    }
    values[i] = value;
  }
  return at;
}
