import { commandProcess } from './command-process.ts';
import { type Ended, halogrid } from './halogrid.ts';
import { isThorough } from './thorough.ts';

/** Runs `halogrid ...args` to its end; in a process of its own only where others run at the same time, or everything is thorough. */
export function command(args: readonly string[], cwd?: string): Promise<Ended> {
  return isThorough || !commandProcess.isIdle ? halogrid(args, { cwd }) : commandProcess.run(args, cwd);
}
