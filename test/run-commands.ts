// Runs commands of halogrid one after another in one process, as its parent asks, and answers how each ended.
import { main } from '../apps/cli/bin/launch.mjs';
import type { Command } from './command-process.ts';
import type { Ended } from './halogrid.ts';

/** The module program.ts is beside main.ts, both in the sources and in the bundle. */
type Program = typeof import('../apps/cli/src/program.ts');
const { runProgram }: Program = await import(main.replace(/main(\.[jt]s)$/, 'program$1'));

async function run({ args, cwd }: Command): Promise<Ended> {
  process.chdir(cwd);
  process.exitCode = 0;
  const said = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const) {
    process[stream].write = (text: string | Uint8Array) => {
      said[stream] += text;
      return true;
    };
  }
  await runProgram(args);
  // Removes the listeners that each command adds for the rest of its process.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.removeAllListeners(signal);
  return { code: Number(process.exitCode), signal: null, ...said };
}

process.on('message', async (command: Command) => process.send!(await run(command)));
process.on('disconnect', () => process.exit());
