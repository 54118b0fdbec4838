// A program that runs commands of halogrid one after another, and prints how each ended: run-commands.ts '[{"args": [], "cwd": ""}]'.
import { runProgram } from '../apps/cli/src/program.ts';
import type { Ended } from './halogrid.ts';

const commands: { args: string[]; cwd: string }[] = JSON.parse(process.argv[2]!);
const write = process.stdout.write.bind(process.stdout);
const ended: Ended[] = [];

for (const { args, cwd } of commands) {
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
  ended.push({ code: Number(process.exitCode), signal: null, ...said });
}
write(JSON.stringify(ended), () => process.exit(0));
