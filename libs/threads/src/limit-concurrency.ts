/** Lets through so much work at once; what comes meanwhile waits, first come first served. */
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

/** Threads of libuv's pool, on which files are read and decoded: as set before this process started, or its default. */
export const poolThreads = (env: NodeJS.ProcessEnv = process.env): number => Number(env.UV_THREADPOOL_SIZE) || 4;
