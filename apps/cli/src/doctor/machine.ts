import { availableParallelism, freemem, totalmem } from 'node:os';

export interface Machine {
  platform: string;
  cores: number;
  /** What this process may use at most: the machine's memory, or its container's. */
  memoryBytes: number;
  freeBytes: number;
  /** Threads that read and decode, as libuv was told; undefined: its default of 4. */
  poolThreads: number | undefined;
}

export function inspectMachine(): Machine {
  // Without a limit the kernel says 0 or a number beyond any memory.
  const limit = process.constrainedMemory() || Number.POSITIVE_INFINITY;
  return {
    platform: `${process.platform} ${process.arch}`,
    cores: availableParallelism(),
    memoryBytes: Math.min(totalmem(), limit),
    freeBytes: Math.min(freemem(), process.availableMemory()),
    poolThreads: process.env.UV_THREADPOOL_SIZE ? Number(process.env.UV_THREADPOOL_SIZE) : undefined,
  };
}
