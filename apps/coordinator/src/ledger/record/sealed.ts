import { crc32 } from 'node:zlib';
import { DamagedLedgerError } from '../../registry/ledger-errors.ts';
import type { Entry } from '../store/ledger-store.ts';

const checksumBytes = 4;

/** The value to keep in a place: a checksum of the place and the content, then the content. */
export function seal(place: Omit<Entry, 'value'>, content: Uint8Array): Entry {
  const value = new Uint8Array(checksumBytes + content.length);
  new DataView(value.buffer).setUint32(0, checksum(place, content), true);
  value.set(content, checksumBytes);
  return { ...place, value };
}

/** The content that was sealed. Throws DamagedLedgerError where it is another, or was sealed for another place. */
export function unseal(entry: Entry): Uint8Array {
  const { jobId, kind, key, value } = entry;
  if (value.length >= checksumBytes) {
    const content = value.subarray(checksumBytes);
    const expected = new DataView(value.buffer, value.byteOffset).getUint32(0, true);
    if (expected === checksum(entry, content)) return content;
  }
  throw new DamagedLedgerError(`entry ${key} of kind '${kind}' of job ${jobId} has changed since it was written`);
}

function checksum({ jobId, kind, key }: Omit<Entry, 'value'>, content: Uint8Array): number {
  return crc32(content, crc32(`${jobId}\n${kind}\n${key}\n`));
}
