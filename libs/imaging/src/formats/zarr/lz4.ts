/**
 * Decodes a block of LZ4 into `out`, which it must fill. Throws for bytes that are no such block. It takes the place of
 * a library because the WebAssembly of numcodecs gives some bytes, and no error, for a damaged chunk of Blosc.
 */
export function decodeLz4(bytes: Uint8Array, out: Uint8Array): void {
  let at = 0;
  let end = 0;
  for (;;) {
    if (at >= bytes.length) fail();
    const token = bytes[at++]!;
    let literals = token >> 4;
    // A length above 14 goes on in bytes that are added.
    if (literals === 15) {
      let more: number;
      do {
        more = at < bytes.length ? bytes[at++]! : fail();
        literals += more;
      } while (more === 255);
    }
    if (at + literals > bytes.length || end + literals > out.length) fail();
    copy(bytes, at, out, end, literals);
    at += literals;
    end += literals;
    // The last sequence has no match.
    if (at === bytes.length) break;
    if (at + 2 > bytes.length) fail();
    const distance = bytes[at]! | (bytes[at + 1]! << 8);
    at += 2;
    let length = (token & 15) + 4;
    if (length === 19) {
      let more: number;
      do {
        more = at < bytes.length ? bytes[at++]! : fail();
        length += more;
      } while (more === 255);
    }
    if (distance === 0 || distance > end || end + length > out.length) fail();
    repeat(out, end, distance, length);
    end += length;
  }
  if (end !== out.length) fail();
}

/** Copies few bytes one by one, which is faster than a view of them. */
export function copy(from: Uint8Array, at: number, to: Uint8Array, place: number, length: number): void {
  if (length > 32) to.set(from.subarray(at, at + length), place);
  else for (let i = 0; i < length; i++) to[place + i] = from[at + i]!;
}

/** Repeats what is `distance` before `place`; the copy may overlap what it copies. */
export function repeat(bytes: Uint8Array, place: number, distance: number, length: number): void {
  if (distance === 1) bytes.fill(bytes[place - 1]!, place, place + length);
  else if (length > 32 && distance >= length) bytes.copyWithin(place, place - distance, place - distance + length);
  else for (let i = place; i < place + length; i++) bytes[i] = bytes[i - distance]!;
}

function fail(): never {
  throw new Error('its LZ4 is damaged');
}
