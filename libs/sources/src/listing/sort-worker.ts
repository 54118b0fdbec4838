// Runs in a worker thread: sorts names of a large folder for SortThread.
import { serveOrders } from '@halogrid/threads';
import { compareNatural } from './natural-order.ts';
import { joinNames, splitNames } from './run-file.ts';
import { sortNatural } from './sort-natural.ts';

/** Names with a NUL behind each; the first `from` characters of each are not part of the name. */
export interface SortOrder {
  names: Uint8Array;
  from: number;
}

serveOrders<SortOrder, Uint8Array>(({ names, from }) => {
  const order = (a: string, b: string) => compareNatural(a, b, from);
  return joinNames(sortNatural(splitNames(names), from, order));
});
