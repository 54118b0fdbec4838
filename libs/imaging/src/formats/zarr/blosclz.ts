import { copy, repeat } from './lz4.ts';

/** Distances from here on take two more bytes. */
const farDistance = 8191;

/** Decodes BloscLZ, the own codec of Blosc, into `out`, which it must fill. Throws for damaged bytes. */
export function decodeBloscLz(bytes: Uint8Array, out: Uint8Array): void {
  let at = 0;
  let end = 0;
  const next = (): number => bytes[at++] ?? fail();
  // The first step is always one of literals.
  for (let control = next() & 31; ; control = next()) {
    if (control < 32) {
      const literals = control + 1;
      if (at + literals > bytes.length || end + literals > out.length) fail();
      copy(bytes, at, out, end, literals);
      at += literals;
      end += literals;
    } else {
      let length = (control >> 5) + 2;
      for (let more = length === 9 ? 255 : 0; more === 255; length += more) more = next();
      const high = (control & 31) << 8;
      const low = next();
      const isFar = low === 255 && high === 31 << 8;
      const distance = 1 + (isFar ? (next() << 8) + next() + farDistance : high + low);
      if (distance > end || end + length > out.length) fail();
      repeat(out, end, distance, length);
      end += length;
    }
    if (at >= bytes.length) break;
  }
  if (end !== out.length) fail();
}

function fail(): never {
  throw new Error('its BloscLZ is damaged');
}
