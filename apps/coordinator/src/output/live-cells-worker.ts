// Runs in a worker thread: adds histograms from the parts of a job to the given sums, as LiveCells orders.

import { readLogBytes } from '@halogrid/ledger/read-log-bytes';
import { PartReader } from '@halogrid/results/part-reader';
import { SourceBlock } from '@halogrid/sources/source-block';
import { serveOrders } from '@halogrid/threads';
import type { CellsOrder } from './live-cells.ts';

serveOrders<CellsOrder, Float64Array<ArrayBuffer>>(
  async ({ parts, pipelines, part, runs, sums }) => {
    const reader = new PartReader(parts, pipelines);
    try {
      for (const run of runs) {
        if (run.kind === 'quarantined') continue;
        const { file, offset, length, nth: from } = run.planned;
        const shard = await reader.read(run.found, new SourceBlock(readLogBytes(file, offset, length)));
        const { bins } = shard.parts[part]!;
        for (const [row, nth] of shard.found.entries()) {
          if (nth >= from && nth < from + run.count) add(sums, bins, row * sums.length);
        }
      }
    } finally {
      await reader.close();
    }
    return sums;
  },
  { moved: (sums) => [sums.buffer] },
);

/** Adds the counts of a source, which begin at `at`. */
function add(sums: Float64Array, counts: Uint32Array | Float64Array, at: number): void {
  for (let i = 0; i < sums.length; i++) sums[i]! += counts[at + i]!;
}
