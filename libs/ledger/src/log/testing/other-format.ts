// For tests: what logs of other versions begin with.
import { packFact } from '../fact-codec.ts';
import type { Facts } from '../group.ts';

/** A checkpoint of that format, which the first versions did not state. */
export const otherFormat = (format?: number): Facts => [
  packFact({ kind: 'checkpoint', ...(format && { format }), logs: [], state: {} }),
];
