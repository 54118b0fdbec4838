import type { ItemResult } from '@halogrid/kernels';

/** The memory that results lie in, each buffer once: one may hold several arrays, and is moved as a whole. */
export function resultBuffers(items: readonly ItemResult[]): Set<ArrayBuffer> {
  const arrays = items.flatMap(({ bins, map }) => (map ? [bins, map.bytes] : [bins]));
  return new Set(arrays.map(({ buffer }) => buffer as ArrayBuffer));
}
