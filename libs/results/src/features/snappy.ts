import { ColumnError } from './column-error.ts';

/** Up to this, a literal's tag is its length less one. A larger tag says in how many bytes the length follows. */
const shortLiteral = 59;

/**
 * Decompresses Snappy's format into `plain`, which it must fill; throws ColumnError if it does not. The decoder of
 * hyparquet goes in a circle if a length is above 2^31. Source: format_description.txt of google/snappy.
 */
export function snappyUncompress(data: Uint8Array, plain: Uint8Array): void {
  const byte = (at: number): number => {
    const value = data[at];
    if (value === undefined) throw new ColumnError('ends early');
    return value;
  };
  const number = (at: number, bytes: number): number => {
    let value = 0;
    for (let i = 0; i < bytes; i++) value += byte(at + i) * 2 ** (8 * i);
    return value;
  };
  let at = 0;
  // Skips the length of the plain bytes, which is known.
  while (byte(at++) >= 0x80);
  let filled = 0;
  const room = (length: number): void => {
    if (filled + length > plain.length) throw new ColumnError(`has more than the ${plain.length} bytes that it says`);
  };
  while (at < data.length) {
    const tag = byte(at++);
    const kind = tag & 3;
    if (kind === 0) {
      const bytes = Math.max(0, (tag >> 2) - shortLiteral);
      const length = 1 + (bytes === 0 ? tag >> 2 : number(at, bytes));
      at += bytes;
      room(length);
      if (at + length > data.length) throw new ColumnError('ends early');
      plain.set(data.subarray(at, at + length), filled);
      at += length;
      filled += length;
      continue;
    }
    const bytes = kind === 3 ? 4 : kind;
    const length = kind === 1 ? 4 + ((tag >> 2) & 7) : 1 + (tag >> 2);
    const offset = number(at, bytes) + (kind === 1 ? (tag >> 5) << 8 : 0);
    at += bytes;
    room(length);
    if (offset === 0 || offset > filled) throw new ColumnError('refers to bytes before its first');
    for (let i = 0; i < length; i++, filled++) plain[filled] = plain[filled - offset]!;
  }
  if (filled < plain.length) throw new ColumnError(`has ${filled} bytes instead of ${plain.length}`);
}
