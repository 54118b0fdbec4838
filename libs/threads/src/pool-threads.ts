/** Threads of libuv's pool, on which files are read and decoded: as set before this process started, or its default. */
export const poolThreads = (env: NodeJS.ProcessEnv = process.env): number => Number(env.UV_THREADPOOL_SIZE) || 4;
