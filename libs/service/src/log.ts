import { type Logger, pino } from 'pino';
import { traced } from './trace-context.ts';

export type Log = Logger;

/**
 * Structured JSON lines on stderr, so that stdout stays for results; those about a job name its trace. `level` is a pino level; 'silent'
 * for none.
 */
export function createLog(name: string, level = 'info'): Log {
  const options = { name, level, base: { name, pid: process.pid }, formatters: { log: traced } };
  return pino(options, pino.destination({ dest: 2, sync: true }));
}
