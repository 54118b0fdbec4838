import type { GpuScan } from '@halogrid/search';
import type { BenchSearchOptions } from './bench-search-options.ts';
import { row, type Times } from './measured-row.ts';
import { readOnce } from './read-once.ts';

/** Rows for loading an index into a device, and for reading all of it there once. */
export async function deviceRows(
  scan: GpuScan,
  loaded: Times,
  { repetitions }: BenchSearchOptions,
): Promise<string[][]> {
  const bytes = scan.shelves.reduce((sum, { bins }) => sum + bins.size, 0);
  await readOnce(scan, 1);
  const times = await readOnce(scan, repetitions);
  const reading = row(
    `reading its ${(bytes / 1e9).toFixed(2)} GB once`,
    times.map((wall) => ({ wall, device: wall })),
  );
  const rate = bytes / Math.min(...times) / 1e12;
  return [
    row(`loading it into ${scan.shelves.length} buffers`, [loaded]),
    reading,
    [`the same by the device's clock: ${rate.toFixed(2)} TB/s`, '', '', '', '', ''],
  ];
}
