import { errorAnswer } from '@halogrid/proto/error-answer';
import { resultsVersion, softwareVersion } from '@halogrid/service/version';
import { CommanderError, type Option } from 'commander';
import { commands } from './commands/catalogue.ts';
import { addExamples } from './commands/examples.ts';
import { remedyOf } from './commands/remedy.ts';
import { failureOf } from './options/failure.ts';
import { exitCodeOfError, exitCodes } from './process/exit-code.ts';
import { checkNames } from './settings/check-names.ts';
import { readSettings, type Settings } from './settings/read-settings.ts';
import { addCommonOptions, SettingCommand } from './settings/setting-command.ts';

const commandNames = Object.keys(commands);

/** The program with the `loaded` commands, and only the names and summaries of the others. */
export async function createProgram(
  settings: Settings,
  loaded: readonly string[] = commandNames,
): Promise<SettingCommand> {
  const program = new SettingCommand('halogrid', { settings, whole: () => createProgram(settings), chosen: [] });
  program
    .description(
      'Texture kernels (LBP, LDP, GLCM, convolution) over large images and archives of frames, on one machine or many.',
    )
    .version(`${softwareVersion} (results version ${resultsVersion})`, '-V, --version', 'show the version')
    .helpOption('-h, --help', 'show help')
    .helpCommand('help [command]', 'show help about a command')
    // runProgram prints errors, so commander throws them; subcommands inherit this.
    .exitOverride()
    .configureOutput({ outputError: () => {} })
    .configureHelp({ optionDescription });
  const adds = new Map(await Promise.all(loaded.map(async (name) => [name, await commands[name]!.load()] as const)));
  for (const [name, { summary }] of Object.entries(commands)) {
    const add = adds.get(name);
    if (add) add(program);
    else program.command(name);
    const command = program.commands.at(-1)!.summary(summary);
    if (add) addCommonOptions(command);
  }
  addExamples(program);
  return program;
}

/** A description with its default in the form that hand-written ones use: `(default: none)`. */
const optionDescription = ({ description, defaultValue }: Option): string =>
  defaultValue === undefined || typeof defaultValue === 'boolean'
    ? description
    : `${description} (default: ${[defaultValue].flat().join(',')})`;

/** Settings without files and variables. */
export const noSettings: Settings = { env: {}, files: [], lookedAt: [] };

/** Options of processes that the program itself starts: their command lines have all settings. */
const ofChildren = ['--own-token', '--pinned-gpu', '--probe'];

/** Commands that change a job. */
const ofOneJob = ['cancel', 'pause', 'resume'];

/**
 * Translates words that are usual in other programs: `halogrid version`, `halogrid -v`, `halogrid jobs pause`, and help
 * about an unknown command.
 */
function meantBy(args: readonly string[]): readonly string[] {
  const [first, second] = args;
  if (args.length === 1 && (first === 'version' || first === '-v')) return ['--version'];
  if (first === 'jobs' && second !== undefined && ofOneJob.includes(second)) return args.slice(1);
  const isUnknown = first === 'help' && second !== undefined && !Object.hasOwn(commands, second);
  return isUnknown && !second.startsWith('-') && second !== 'help' ? [second] : args;
}

/** Runs one command and sets the exit code. An error is printed as one sentence on stderr. */
export async function runProgram(typed: readonly string[]): Promise<void> {
  const args = meantBy(typed);
  let program: SettingCommand | undefined;
  try {
    // 'help run' shows the same as 'run --help'.
    const name = (args[0] === 'help' ? args[1] : args[0]) ?? '';
    const isCommand = Object.hasOwn(commands, name);
    const settings = isCommand ? await readSettings(process.env, process.cwd()) : noSettings;
    program = await createProgram(settings, isCommand ? [name] : []);
    if (isCommand && !args.some((word) => ofChildren.includes(word))) {
      const notices = await checkNames(settings, program, commandNames, () => program!.whole());
      for (const notice of notices) console.error(notice);
    }
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.code === 'commander.version' || error.code === 'commander.helpDisplayed') return;
    }
    process.exitCode = error instanceof CommanderError ? exitCodes.usage : exitCodeOfError(error);
    // Without a command, commander has shown the help, which is enough.
    if (error instanceof CommanderError && error.code === 'commander.help') return;
    const { code, sentence, field } = failureOf(error);
    const said = `${sentence}${remedyOf(error, args)}`;
    console.error(`halogrid: ${program?.sayingWhere(said) ?? said}`);
    // Only for wrong usage: a job that has failed was already reported as JSON.
    if (process.exitCode === exitCodes.usage && wantsJson(args)) {
      console.log(JSON.stringify(errorAnswer(code, sentence, field), null, 2));
    }
  }
}

function wantsJson(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  return args.slice(0, end < 0 ? undefined : end).includes('--json');
}
