import { availableParallelism, totalmem } from 'node:os';

/**
 * Cores that this process may use: what the launcher has found, which respects the quota of a container, or otherwise
 * the processors on which it may run.
 */
export const coresHere = (env: NodeJS.ProcessEnv = process.env): number =>
  Number(env.HALOGRID_CORES) || availableParallelism();

/** Bytes of memory that this process may use: a container may be allowed less than the machine has. */
export const memoryHere = (): number => Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
