import type { SettledRow, SettledRun, SettledSources } from '../ledger.ts';
import { readHistograms } from '../read-histograms.ts';
import { SettledFrames } from '../settled-frames.ts';
import { type CountedRow, countedRows } from '../settled-rows.ts';

/** Settled sources one by one, with an object each. Throws one sentence where a file is not as it was written. */
export function* settledRows({ runs }: Pick<SettledSources, 'runs'>): Generator<SettledRow> {
  for (const run of runs) yield* rowsOf(run);
}

/** Those that are done, with their histograms of `binsOfSource` counts, which are only valid at once. */
export function* settledHistograms(
  { runs }: Pick<SettledSources, 'runs'>,
  binsOfSource: number,
): Generator<{ row: CountedRow; bins: Float64Array }> {
  for (const run of runs) {
    const done = countedRows([...rowsOf(run)]);
    const places = done.map(({ place }) => place);
    for (const { place, bins } of readHistograms(run.file, places, binsOfSource)) yield { row: done[place]!, bins };
  }
}

function* rowsOf(run: SettledRun): Generator<SettledRow> {
  if (run.kind === 'sources') {
    yield* run.sources;
    return;
  }
  yield* new SettledFrames(run).rows();
}
