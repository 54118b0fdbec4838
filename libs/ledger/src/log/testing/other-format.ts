// For tests: the beginning of logs of other versions.
import { packFact } from '../fact-codec.ts';
import type { Facts } from '../group.ts';

/** A checkpoint with a format; undefined: without one, as the first versions wrote it. */
export const otherFormat = (format?: number): Facts => [
  packFact({ kind: 'checkpoint', ...(format && { format }), logs: [], state: {} }),
];
