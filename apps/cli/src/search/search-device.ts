import { scanOn } from '@halogrid/gpu-node/search';
import { blocksOfIndex, IndexError, type OpenScan, ThreadScan } from '@halogrid/search';
import { coresHere } from '@halogrid/threads/limits';
import type { SearchDevice } from '../options/option-values.ts';

export type { SearchDevice };

/**
 * Bytes of an index that a core reads and checks per second, and that it compares with a query per second (measured).
 */
const [readRate, scanRate] = [1.5e9, 20e9];
/** Seconds until a GPU is open and its shaders are compiled (measured). */
const openSeconds = 1.5;

/**
 * Whether a GPU is faster than threads. Both read the index once, the GPU on one thread. Then a query takes hardly any
 * time on the GPU, and a scan on threads.
 */
export function isWorthGpu(bytes: number, queries: number, cores: number): boolean {
  const onThreads = bytes / (readRate * cores) + (queries * bytes) / (scanRate * cores);
  return openSeconds + bytes / readRate < onThreads;
}

/** What searches an index for this many queries. `note` is called with lines for people. */
export function searchDevice(choice: SearchDevice, queries: number, note: (line: string) => void): OpenScan {
  if (choice !== 'auto') return scanOn(choice, note);
  return async (catalog) => {
    const bytes = blocksOfIndex(catalog).reduce((sum, block) => sum + block.bytes, 0);
    if (!isWorthGpu(bytes, queries, coresHere())) return new ThreadScan(catalog);
    return await scanOn(
      'gpu',
      note,
    )(catalog).catch((error) => {
      // Without a working GPU, threads find the same.
      if (error instanceof IndexError) throw error;
      return new ThreadScan(catalog);
    });
  };
}
