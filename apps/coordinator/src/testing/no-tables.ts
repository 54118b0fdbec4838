import type { FinishedOutput } from '../output/finalise.ts';
import type { TablesOutput } from '../output/tables-output.ts';

/** Tables of a job of which nobody reads any. */
export const noTables: TablesOutput = {
  start: () => {},
  advance: () => {},
  finish: async () => [],
  abort: async () => {},
};

/** What there is to tell of an output that nobody reads. */
export const noOutput: FinishedOutput = { digest: '', captured: undefined };
