import { promisify } from 'node:util';
import { zstdDecompress } from 'node:zlib';
import { InputError } from '@halogrid/sources';

const inflate = promisify(zstdDecompress);

/** The most bytes that a block is inflated to: it is held in memory as a whole. */
const maxInflatedBytes = 2 ** 30;

/**
 * The `length` bytes that a block has inflated. Memory grows with what comes out, so that a wrong size costs none.
 * Rejects with InputError, which names the block.
 */
export async function inflateZstd(bytes: Uint8Array, length: number, name: string): Promise<Uint8Array> {
  if (length > maxInflatedBytes) {
    throw new InputError(
      'decode',
      `The TIFF's ${name} has ${length} bytes inflated, and at most ${maxInflatedBytes} are held: write it in tiles`,
    );
  }
  const inflated = await inflate(bytes, { maxOutputLength: length }).catch(() => undefined);
  if (inflated?.length !== length) throw new InputError('decode', `The TIFF data is damaged or cut off in ${name}`);
  // Samples of 2, 4 and 8 bytes lie at multiples of 8.
  return inflated.byteOffset % 8 === 0 ? inflated : new Uint8Array(inflated);
}
