import { inspect } from 'node:util';
import type { Log } from './log.ts';

const failed = 1;

/**
 * Has an exception that nothing catches, or a rejection that nothing handles, end the process with exit code 1, after
 * one line of the log that has its stack. Nothing is closed in order, because what the program would do next is not
 * known. To be called once.
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
