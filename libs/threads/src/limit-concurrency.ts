/** Runs up to `count` pieces of work at once; others wait, first come first served. */
export function limitConcurrency(count: number): <T>(work: () => Promise<T>) => Promise<T> {
  let free = count;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (free > 0) free--;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free++;
    }
  };
}

/** The number of libuv's threads, which read and decode files: as set before this process started, or the default. */
export const poolThreads = (env: NodeJS.ProcessEnv = process.env): number => Number(env.UV_THREADPOOL_SIZE) || 4;
