import { timeoutMs } from '@halogrid/testing';
import { withFaults } from './faults/node-hooks.ts';

/**
 * Environment variables that make nodes open a file slowly, so that a test sees a job on it half-way, even on a busy
 * machine and without thousands of shards.
 */
export const slowFiles = (file: string): Record<string, string> =>
  withFaults({ open: { [file]: Math.min(timeoutMs(100), 500) } });
