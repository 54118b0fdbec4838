import type { FinishedOutput } from '../output/finalise.ts';
import type { TablesOutput } from '../output/tables-output.ts';

/** Tables of a job, for tests that do not read them. */
export const noTables: TablesOutput = {
  start: () => {},
  advance: () => {},
  finish: async () => [],
  abort: async () => {},
};

/** The finished output, for tests that do not read it. */
export const noOutput: FinishedOutput = { digest: '', captured: undefined };
