import type { TablesOutput } from '../output/tables-output.ts';

/** Tables of a job of which nobody reads any. */
export const noTables: TablesOutput = {
  start: () => {},
  advance: () => {},
  finish: async () => [],
  abort: async () => {},
};
