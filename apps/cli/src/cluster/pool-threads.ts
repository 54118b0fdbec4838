/** Threads of libuv's pool, on which files are read and decoded: as set before this process started, or its default. */
export const poolThreads = (env: NodeJS.ProcessEnv = process.env): number => Number(env.UV_THREADPOOL_SIZE ?? 4);

/**
 * Threads for each of so many nodes of a machine, which share its cores. Measured on 16 cores, 1080p JPEGs: four nodes of 16
 * threads each decode less than one does.
 */
export function threadsEach(nodes: number, threads = poolThreads()): number {
  return Math.max(Math.min(4, threads), Math.ceil(threads / nodes));
}
