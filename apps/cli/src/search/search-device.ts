import { availableParallelism } from 'node:os';
import { scanOn } from '@halogrid/gpu-node/search';
import { blocksOfIndex, IndexError, type OpenScan, ThreadScan } from '@halogrid/search';
import type { SearchDevice } from '../options/option-values.ts';

export type { SearchDevice };

/** Bytes of an index that a core reads and checks in a second, and that it compares with a query then (measured). */
const [readRate, scanRate] = [1.5e9, 20e9];
/** Seconds until a GPU is open, its shaders compiled (measured). */
const openSeconds = 1.5;

/**
 * Whether a GPU has the answers earlier than threads have. Both read the index once: a GPU from one thread, and then it
 * takes next to nothing for a query; threads take a scan for each.
 */
export function isWorthGpu(bytes: number, queries: number, cores: number): boolean {
  const onThreads = bytes / (readRate * cores) + (queries * bytes) / (scanRate * cores);
  return openSeconds + bytes / readRate < onThreads;
}

/** What searches an index for so many queries. `note` takes a line for people. */
export function searchDevice(choice: SearchDevice, queries: number, note: (line: string) => void): OpenScan {
  if (choice !== 'auto') return scanOn(choice, note);
  return async (catalog) => {
    const bytes = blocksOfIndex(catalog).reduce((sum, block) => sum + block.bytes, 0);
    if (!isWorthGpu(bytes, queries, availableParallelism())) return new ThreadScan(catalog);
    return await scanOn(
      'gpu',
      note,
    )(catalog).catch((error) => {
      // There is none, or it does not work: threads find the same.
      if (error instanceof IndexError) throw error;
      return new ThreadScan(catalog);
    });
  };
}
