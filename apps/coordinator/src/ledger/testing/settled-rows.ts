import type { SettledRow, SettledSources } from '../ledger.ts';
import { SettledFrames } from '../settled-frames.ts';

/** Settled sources one by one, with an object each. Throws one sentence where a file is not as it was written. */
export function* settledRows({ runs, file }: Pick<SettledSources, 'runs' | 'file'>): Generator<SettledRow> {
  for (const run of runs) {
    if (run.kind === 'sources') yield* run.sources;
    else yield* new SettledFrames(run, file).rows();
  }
}
