import { type Logger, pino } from 'pino';
import { traced } from './trace-context.ts';

export type Log = Logger;

/** Takes lines of a log, each with its line feed. */
export interface LogLines {
  write(line: string): void;
}

/**
 * A log of structured JSON lines, written to `lines`, or to stderr so that stdout stays free for results. Lines about a
 * job name its trace. `level` is a pino level; 'silent' for none.
 */
export function createLog(name: string, level = 'info', lines?: LogLines): Log {
  const options = { name, level, base: { name, pid: process.pid }, formatters: { log: traced } };
  return pino(options, lines ?? pino.destination({ dest: 2, sync: true }));
}
