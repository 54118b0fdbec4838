// A program that runs commands of halogrid one after another, as its parent asks for them, and answers how each ended.
import { main } from '../apps/cli/bin/launch.mjs';
import type { Command } from './command-process.ts';
import type { Ended } from './halogrid.ts';

/** Lies beside what a process of the program begins with, in the sources and where they are bundled. */
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
  // A command listens to the end of its process.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.removeAllListeners(signal);
  return { code: Number(process.exitCode), signal: null, ...said };
}

process.on('message', async (command: Command) => process.send!(await run(command)));
process.on('disconnect', () => process.exit());
