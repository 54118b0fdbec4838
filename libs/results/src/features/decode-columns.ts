import { ColumnError } from './column-error.ts';
import { deltaUnpack } from './delta-unpack.ts';

// Decodes what `encodeLevels`, `deltaPack` and the other encoders write. The decoders of hyparquet accept any file, and
// a forged one may keep them busy for hours. These decoders end with the bytes.

/** Reads numbers and bytes one after another. Every method throws ColumnError if the bytes end early. */
class Input {
  readonly bytes: Uint8Array;
  at: number;

  constructor(bytes: Uint8Array, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  byte(): number {
    const byte = this.bytes[this.at++];
    if (byte === undefined) throw new ColumnError('ends early');
    return byte;
  }

  /** A number from 0 to 2^32 - 1. */
  varint(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.byte();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80 && value < 2 ** 32) return value;
    }
    throw new ColumnError('has a number beyond 2^32');
  }

  zigzag(): number {
    const value = this.varint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }
}

/** Decodes `count` levels of 0 and 1: runs of equal levels (RLE), and levels packed as bits. */
export function decodeLevels(bytes: Uint8Array, count: number): Uint8Array {
  const levels = new Uint8Array(count);
  const input = new Input(bytes);
  for (let at = 0; at < count; ) {
    const head = input.varint();
    const length = head >>> 1;
    if (head % 2 === 0) {
      if (length === 0 || length > count - at) throw new ColumnError('has other levels than rows');
      levels.fill(input.byte() & 1, at, at + length);
      at += length;
    } else {
      // Groups of eight levels. The last group may have more than there are.
      if (length === 0 || 8 * (length - 1) >= count - at) throw new ColumnError('has other levels than rows');
      for (let group = 0; group < length; group++) {
        const bits = input.byte();
        for (let bit = 0; bit < 8 && at < count; bit++) levels[at++] = (bits >> bit) & 1;
      }
    }
  }
  return levels;
}

/** Decodes `count` flags of one bit each. */
export function decodeFlags(data: Uint8Array, count: number): Uint8Array {
  if (data.length < Math.ceil(count / 8)) throw new ColumnError('ends early');
  return Uint8Array.from({ length: count }, (_, i) => (data[i >> 3]! >> (i & 7)) & 1);
}

/** Decodes whole numbers of 8 bytes each. Throws ColumnError for numbers that are not from 0 to 2^53 - 1. */
export function decodePlain(data: Uint8Array, into: Float64Array | Uint32Array): void {
  if (data.length < 8 * into.length) throw new ColumnError('ends early');
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  for (let i = 0; i < into.length; i++) {
    const value = view.getUint32(8 * i, true) + 2 ** 32 * view.getInt32(8 * i + 4, true);
    if (!(value >= 0 && value <= Number.MAX_SAFE_INTEGER)) throw new ColumnError(`has the number ${value}`);
    into[i] = value;
  }
}

/** Decodes `count` texts of TextList, without nulls. Throws ColumnError for texts of more than `most` bytes. */
export function decodeTexts(data: Uint8Array, count: number, most: number): string[] {
  if (count === 0) return [];
  const [shared, rest] = [new Uint32Array(count), new Uint32Array(count)];
  let at = deltaUnpack(data, deltaUnpack(data, 0, shared), rest);
  let text = Buffer.alloc(0);
  return Array.from(shared, (same, i) => {
    const end = at + rest[i]!;
    if (same > text.length || end > data.length) throw new ColumnError('ends early');
    if (same + end - at > most) throw new ColumnError(`has a text of more than ${most} bytes`);
    text = Buffer.concat([text.subarray(0, same), data.subarray(at, end)]);
    at = end;
    return text.toString();
  });
}
