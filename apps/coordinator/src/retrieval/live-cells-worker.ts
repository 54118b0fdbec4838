// Runs in a worker thread: adds histograms that a ledger's file has to the sums that it is given, as LiveCells orders.

import { readVarints } from '@halogrid/proto/varints';
import { serveOrders } from '@halogrid/threads';
import { readHistograms } from '../ledger/read-histograms.ts';
import { SettledFrames } from '../ledger/settled-frames.ts';
import { countedRows } from '../ledger/settled-rows.ts';
import type { CellsOrder } from './live-cells.ts';

serveOrders<CellsOrder, Float64Array<ArrayBuffer>>(
  ({ runs, sums }) => {
    for (const run of runs) {
      if (run.kind === 'frames') addFrames(sums, new SettledFrames(run));
      else {
        const places = countedRows(run.sources).map(({ place }) => place);
        for (const { bins } of readHistograms(run.file, places, sums.length)) add(sums, bins);
      }
    }
    return sums;
  },
  { moved: (sums) => [sums.buffer] },
);

function addFrames(sums: Float64Array, frames: SettledFrames): void {
  if (!frames.hasHistograms) return;
  const bins = new Float64Array(sums.length);
  for (let frame = 0; frame < frames.count; ) {
    const { bytes, next } = frames.readHistograms(frame);
    for (let at = 0; frame < next; frame++) {
      at = readVarints(bytes, at, bins);
      add(sums, bins);
    }
  }
}

function add(sums: Float64Array, bins: Float64Array): void {
  for (let i = 0; i < sums.length; i++) sums[i]! += bins[i]!;
}
