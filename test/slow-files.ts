import { timeoutMs } from '@halogrid/testing';
import { withFaults } from './faults/node-hooks.ts';

/**
 * Settings of nodes for which a file takes long to open: a job on it is not over before a test, which others hold up,
 * has seen it half-way, and needs no thousand shards for that.
 */
export const slowFiles = (file: string): Record<string, string> =>
  withFaults({ open: { [file]: Math.min(timeoutMs(100), 500) } });
