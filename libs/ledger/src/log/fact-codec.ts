import { crc32 } from 'node:zlib';
import type { Fact } from './fact.ts';

const checksumBytes = 4;
const lengthBytes = 4;

/** The bytes of a fact have changed since they were written. */
export class DamagedFactError extends Error {
  override readonly name = 'DamagedFactError';
}

/**
 * A fact as bytes: CRC-32 of what follows and the length of the head, each uint32 little-endian, the head, and the
 * binary parts end to end. The head is the fact as JSON, where each binary part is `{"$": [offset, length]}`. The
 * checksum lets a reader check a fact without its group.
 */
export function packFact(fact: Fact): Uint8Array {
  const parts: Uint8Array[] = [];
  let end = 0;
  const head = Buffer.from(
    JSON.stringify(fact, function (this: Record<string, unknown>, key, value) {
      // JSON.stringify has already turned a Buffer into an object.
      const part = this[key];
      if (!(part instanceof Uint8Array)) return value;
      parts.push(part);
      end += part.length;
      return { $: [end - part.length, part.length] };
    }),
  );
  const bytes = Buffer.allocUnsafe(checksumBytes + lengthBytes + head.length + end);
  bytes.writeUInt32LE(head.length, checksumBytes);
  bytes.set(head, checksumBytes + lengthBytes);
  let at = checksumBytes + lengthBytes + head.length;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  bytes.writeUInt32LE(crc32(bytes.subarray(checksumBytes)), 0);
  return bytes;
}

/** The fact that `packFact` made the bytes of. Its binary parts share their memory. Throws DamagedFactError. */
export function readFact(bytes: Uint8Array): Fact {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (bytes.length < checksumBytes + lengthBytes || crc32(buffer.subarray(checksumBytes)) !== buffer.readUInt32LE(0)) {
    throw new DamagedFactError('A fact has changed since it was written');
  }
  const begin = checksumBytes + lengthBytes;
  const parts = begin + buffer.readUInt32LE(checksumBytes);
  return JSON.parse(buffer.toString('utf8', begin, parts), (_, value) => {
    const place = (value as { $?: [number, number] } | null)?.$;
    return Array.isArray(place) ? bytes.subarray(parts + place[0], parts + place[0] + place[1]) : value;
  });
}
