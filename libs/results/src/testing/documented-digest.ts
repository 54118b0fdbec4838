import { createHash } from 'node:crypto';

/** The digest of a source's result as the documentation defines it, one integer after another. */
export function documentedDigest(width: number, height: number, counted: number, bins: readonly number[]): Buffer {
  const sha = createHash('sha256').update('done');
  for (const value of [width, height, counted, ...bins]) {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64LE(BigInt(value));
    sha.update(bytes);
  }
  return sha.digest();
}
