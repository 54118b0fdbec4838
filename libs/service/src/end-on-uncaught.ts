import { inspect } from 'node:util';
import type { Log } from './log.ts';

const failed = 1;

/**
 * Ends the process with exit code 1 on an uncaught exception or an unhandled rejection, after one line of the log with
 * its stack. Nothing is closed in order, because the state of the program is unknown. Call it once.
 */
export function endOnUncaught(log: Log): void {
  process.on('uncaughtException', (error) => {
    try {
      if (log.isLevelEnabled('fatal')) log.fatal({ err: error }, 'The program itself failed, and ends');
      else process.stderr.write(`${inspect(error)}\n`);
    } finally {
      process.exit(failed);
    }
  });
}
