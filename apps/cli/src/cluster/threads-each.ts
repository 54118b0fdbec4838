import { poolThreads } from '@halogrid/threads/pool-threads';

/**
 * Threads for each of so many nodes of a machine, which share its cores. Measured on 16 cores, 1080p JPEGs: four nodes of 16
 * threads each decode less than one does.
 */
export function threadsEach(nodes: number, threads = poolThreads()): number {
  return Math.max(Math.min(4, threads), Math.ceil(threads / nodes));
}
