import { resultsVersion, softwareVersion } from '@halogrid/service';
import { Command, CommanderError } from 'commander';
import { addExamples } from './commands/examples.ts';
import { usageSentence } from './options/usage-sentence.ts';
import { exitCodeOfError, exitCodes } from './process/exit-code.ts';

type AddCommand = (program: Command) => void;

/**
 * In the order of the help. A command's file brings all that it works with, so only that of the command that is asked for is
 * loaded: a coordinator that never looks at commands for nodes starts a quarter of a second earlier (measured).
 */
const commands: Record<string, () => Promise<AddCommand>> = {
  run: async () => (await import('./commands/run.ts')).addRunCommand,
  plan: async () => (await import('./commands/plan.ts')).addPlanCommand,
  submit: async () => (await import('./commands/jobs.ts')).addSubmitCommand,
  watch: async () => (await import('./commands/jobs.ts')).addWatchCommand,
  status: async () => (await import('./commands/jobs.ts')).addStatusCommand,
  results: async () => (await import('./commands/results.ts')).addResultsCommand,
  jobs: async () => (await import('./commands/list-jobs.ts')).addJobsCommand,
  nodes: async () => (await import('./commands/nodes.ts')).addNodesCommand,
  cancel: async () => (await import('./commands/jobs.ts')).addCancelCommand,
  trace: async () => (await import('./commands/trace.ts')).addTraceCommand,
  index: async () => (await import('./commands/index-jobs.ts')).addIndexCommand,
  search: async () => (await import('./commands/search.ts')).addSearchCommand,
  evaluate: async () => (await import('./commands/evaluate.ts')).addEvaluateCommand,
  changes: async () => (await import('./commands/changes.ts')).addChangesCommand,
  coordinator: async () => (await import('./commands/coordinator.ts')).addCoordinatorCommand,
  node: async () => (await import('./commands/node.ts')).addNodeCommand,
  doctor: async () => (await import('./commands/doctor.ts')).addDoctorCommand,
  bench: async () => (await import('./commands/bench.ts')).addBenchCommand,
  tune: async () => (await import('./commands/tune.ts')).addTuneCommand,
};

/** The program with the command that comes first, or with all where that is none: the help names them. */
export async function createProgram([name = '']: readonly string[]): Promise<Command> {
  const program = new Command('halogrid')
    .description(
      'Texture kernels (LBP, LDP, convolution) over large images and archives of frames, on one machine or many.',
    )
    .version(`${softwareVersion} (results version ${resultsVersion})`)
    // Errors are thrown to runProgram, which prints them; subcommands inherit this.
    .exitOverride()
    .configureOutput({ outputError: () => {} });
  const wanted = Object.hasOwn(commands, name) ? [commands[name]!] : Object.values(commands);
  for (const add of await Promise.all(wanted.map((load) => load()))) add(program);
  addExamples(program);
  return program;
}

/** Runs one command and sets the exit code; what goes wrong is one sentence on stderr. */
export async function runProgram(args: readonly string[]): Promise<void> {
  try {
    const program = await createProgram(args);
    await program.parseAsync(args, { from: 'user' });
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
