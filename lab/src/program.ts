import { UsageError } from '@halogrid/service/usage-error';
import { Command, CommanderError } from 'commander';
import { addMeasurements } from './measurements.ts';
import { scripts } from './scripts.ts';

/** The lab with all of its commands. It does not read halogrid.toml or variables of `halogrid`. */
export function createLab(): Command {
  const lab = new Command('lab')
    .usage('COMMAND [options]')
    .description('Measures and compares. Each command has --help.')
    .helpCommand(false)
    .exitOverride();
  addMeasurements(lab);
  const width = Math.max(...Object.keys(scripts).map((name) => name.length));
  const lines = Object.entries(scripts).map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`);
  return lab.addHelpText('after', `\nParts of the program:\n${lines.join('\n')}`);
}

/** Runs one command. Resolves with the exit code: 2 for wrong usage, 1 if the command failed. */
export async function runLab(args: readonly string[]): Promise<number> {
  const lab = createLab();
  try {
    if (args.length === 0) lab.outputHelp();
    else await lab.parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    // Commander has printed its own errors, and help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    console.error(`lab: ${(error as Error).message}`);
    return error instanceof UsageError ? 2 : 1;
  }
}
