import { promisify } from 'node:util';
import { inflate as callInflate, createInflate } from 'node:zlib';

const inflate = promisify(callInflate);

/** Room beyond the bytes that a block has inflated, so that zlib finds its end in the same pass. */
const beyond = 64;

/** Node reserves memory for all of a block before it inflates any: a larger one is left to libvips. */
const maxInflatedBytes = 2 ** 24;

/**
 * The first `wanted` of the `length` bytes that a block has inflated. Node's zlib is faster than libvips, makes fewer
 * copies, and stops where no more is wanted. Undefined unless it finds these bytes and no fault: then libvips decides,
 * which also reads some blocks that are not quite as they should be.
 */
export async function inflateDeflate(
  bytes: Uint8Array,
  length: number,
  wanted: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  if (length > maxInflatedBytes) return undefined;
  if (wanted < length) return await inflateFirst(bytes, wanted);
  const options = { chunkSize: length + beyond, maxOutputLength: length };
  const inflated = await inflate(bytes, options).catch(() => undefined);
  return inflated?.length === length ? inflated : undefined;
}

/** Stops after the first chunk that comes out. */
function inflateFirst(bytes: Uint8Array, wanted: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
  return new Promise((resolve) => {
    const stream = createInflate({ chunkSize: wanted + beyond });
    stream.once('data', (first: Buffer<ArrayBuffer>) => {
      resolve(first.length < wanted ? undefined : first.subarray(0, wanted));
      stream.destroy();
    });
    stream.once('error', () => resolve(undefined));
    stream.once('end', () => resolve(undefined));
    stream.end(bytes);
  });
}
