import { softwareVersion } from '@halogrid/service';
import { Command, CommanderError } from 'commander';
import { addBenchCommand } from './commands/bench.ts';
import { addCancelCommand } from './commands/cancel.ts';
import { addCoordinatorCommand } from './commands/coordinator.ts';
import { addDoctorCommand } from './commands/doctor.ts';
import { addJobsCommand } from './commands/jobs.ts';
import { addNodeCommand } from './commands/node.ts';
import { addNodesCommand } from './commands/nodes.ts';
import { addPlanCommand } from './commands/plan.ts';
import { addRunCommand } from './commands/run.ts';
import { addStatusCommand } from './commands/status.ts';
import { addSubmitCommand } from './commands/submit.ts';
import { addTuneCommand } from './commands/tune.ts';
import { addWatchCommand } from './commands/watch.ts';
import { exitCodeOfError, exitCodes } from './exit-code.ts';
import { usageSentence } from './usage-sentence.ts';

function createProgram(): Command {
  const program = new Command('halogrid')
    .description(
      'Texture kernels (LBP, LDP, convolution) over large images and archives of frames, on one machine or many.',
    )
    .version(softwareVersion)
    // Errors are thrown to runProgram, which prints them; subcommands inherit this.
    .exitOverride()
    .configureOutput({ outputError: () => {} });
  addRunCommand(program);
  addPlanCommand(program);
  addSubmitCommand(program);
  addWatchCommand(program);
  addStatusCommand(program);
  addJobsCommand(program);
  addNodesCommand(program);
  addCancelCommand(program);
  addCoordinatorCommand(program);
  addNodeCommand(program);
  addDoctorCommand(program);
  addBenchCommand(program);
  addTuneCommand(program);
  return program;
}

/** Runs one command and sets the exit code; what goes wrong is one sentence on stderr. */
export async function runProgram(args: readonly string[]): Promise<void> {
  try {
    await createProgram().parseAsync(args, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.code === 'commander.version' || error.code === 'commander.helpDisplayed') return;
      process.exitCode = exitCodes.usage;
      // Without a command, the help that was shown says what is missing.
      if (error.code !== 'commander.help') console.error(`halogrid: ${usageSentence(error.message)}`);
      return;
    }
    process.exitCode = exitCodeOfError(error);
    console.error(`halogrid: ${error instanceof Error ? error.message : String(error)}`);
  }
}
