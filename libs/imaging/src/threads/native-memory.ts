import { loadKoffi } from '@halogrid/threads/load-koffi';

/** The address of the bytes. Mapped device memory cannot be handed to another thread in any other way. */
export const memoryAddress = (bytes: Uint8Array): bigint => loadKoffi().address(bytes);

/** The most views that are kept: staging memory of a device is a few dozen buffers, used over and over. */
const maxKnown = 64;
const known = new Map<bigint, Uint8Array>();

/**
 * A view of this process's memory at that address. The caller that gave the address keeps the memory there while it is
 * used. Views are kept, because V8 counts each new one as so much memory allocated.
 */
export function memoryAt(address: bigint, length: number): Uint8Array {
  const seen = known.get(address);
  if (seen?.length === length) return seen;
  const bytes = new Uint8Array(loadKoffi().view(address, length));
  known.delete(address);
  known.set(address, bytes);
  if (known.size > maxKnown) known.delete(known.keys().next().value!);
  return bytes;
}
