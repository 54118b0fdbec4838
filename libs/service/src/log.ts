import { type Logger, pino, stdTimeFunctions } from 'pino';
import { textLogLine } from './text-log-line.ts';
import { traced } from './trace-context.ts';

export type Log = Logger;

/** Takes lines of a log, each with its line feed. */
export interface LogLines {
  write(line: string): void;
}

/** Values of --log-format. */
export const logFormats = ['json', 'text'] as const;
export type LogFormat = (typeof logFormats)[number];

export interface LogOptions {
  /** Where lines go; stderr unless given, so that stdout stays free for results. */
  lines?: LogLines | undefined;
  format?: LogFormat;
}

/**
 * A log of structured lines: JSON for programs, or text for people. Lines about a job name its trace. `level` is a pino
 * level; 'silent' for none.
 */
export function createLog(name: string, level = 'info', { lines, format = 'json' }: LogOptions = {}): Log {
  const options = {
    name,
    level,
    base: { name, pid: process.pid },
    timestamp: stdTimeFunctions.isoTime,
    formatters: { log: traced, level: (label: string) => ({ level: label }) },
  };
  const to = lines ?? pino.destination({ dest: 2, sync: true });
  return pino(options, format === 'json' ? to : { write: (line) => void to.write(textLogLine(line)) });
}
