import { Budget } from '@halogrid/threads';
import { coresHere } from '@halogrid/threads/limits';

/** As many bytes as cores inflate while the next ones come. */
const mostOfPlace = Math.max(2 ** 26, coresHere() * 2 ** 24);

/** A budget for each host or bucket that is asked now, so that none waits for another. */
const places = new Map<string, Budget>();

/**
 * Waits until `bytes` more may be in memory while they go to temporary copies of a place's files, then calls `fetch`.
 * Without a limit for all files together, the tiles of a scene that are read at once took 200 MB (measured).
 */
export async function withFetchedBytes(
  place: string,
  bytes: number,
  fetch: () => Promise<void>,
  most = mostOfPlace,
): Promise<void> {
  const budget = places.get(place) ?? new Budget(most);
  places.set(place, budget);
  await budget.acquire(bytes);
  try {
    await fetch();
  } finally {
    budget.release(bytes);
    if (budget.used === 0) places.delete(place);
  }
}
