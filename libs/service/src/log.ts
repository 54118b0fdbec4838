import { type Logger, pino } from 'pino';

export type Log = Logger;

/** Structured JSON lines on stderr, so that stdout stays for results. `level` is a pino level; 'silent' for none. */
export function createLog(name: string, level = 'info'): Log {
  return pino({ name, level, base: { name, pid: process.pid } }, pino.destination({ dest: 2, sync: true }));
}
