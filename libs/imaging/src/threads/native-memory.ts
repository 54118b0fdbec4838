import { loadKoffi } from '@halogrid/threads/load-koffi';

/** Where the bytes lie. Mapped device memory cannot be handed to another thread in any other way. */
export const memoryAddress = (bytes: Uint8Array): bigint => loadKoffi().address(bytes);

/** Staging memory of a device is a few dozen buffers, used over and over. */
const maxKnown = 64;
const known = new Map<bigint, Uint8Array>();

/**
 * The memory of this process at that address. Whoever gave the address keeps it there for as long as it is used. Views
 * are kept, because V8 takes each new one for as much memory allocated.
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
