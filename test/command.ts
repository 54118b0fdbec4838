import { commandProcess } from './command-process.ts';
import { type Ended, halogrid } from './halogrid.ts';

/** Runs `halogrid ...args` to its end; in a process of its own only where others run at the same time. */
export function command(args: readonly string[], cwd?: string): Promise<Ended> {
  return commandProcess.isIdle ? commandProcess.run(args, cwd) : halogrid(args, { cwd });
}
