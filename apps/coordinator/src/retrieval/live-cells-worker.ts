// Runs in a worker thread: adds histograms that a ledger's file has to the sums that it is given, as LiveCells orders.

import { serveOrders } from '@halogrid/threads';
import { readHistograms } from '../ledger/read-histograms.ts';
import { SettledFrames } from '../ledger/settled-frames.ts';
import { placesOf } from '../ledger/settled-rows.ts';
import type { CellsOrder } from './live-cells.ts';

serveOrders<CellsOrder, Float64Array<ArrayBuffer>>(
  ({ runs, sums }) => {
    for (const run of runs) {
      const places = run.kind === 'frames' ? new SettledFrames(run).places() : placesOf(run.sources);
      for (const { bins } of readHistograms(run.file, places, sums.length)) add(sums, bins);
    }
    return sums;
  },
  { moved: (sums) => [sums.buffer] },
);

function add(sums: Float64Array, bins: Float64Array): void {
  for (let i = 0; i < sums.length; i++) sums[i]! += bins[i]!;
}
