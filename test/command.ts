import { commandProcess } from './command-process.ts';
import { type Ended, halogrid } from './halogrid.ts';

/** Runs `halogrid ...args` to its end, in the shared process, or in a new one if that is busy. */
export function command(args: readonly string[], cwd?: string): Promise<Ended> {
  return commandProcess.isIdle ? commandProcess.run(args, cwd) : halogrid(args, { cwd });
}
