import { Argument, type Command } from 'commander';
import { commandWords } from '../completion/command-words.ts';
import { completionScript, shells } from '../completion/completion-script.ts';
import { parseWord } from '../options/option-values.ts';
import type { SettingCommand } from '../settings/setting-command.ts';

export function addCompletionCommand(program: Command): void {
  program
    .command('completion')
    .description('Prints a script for shell completion of commands, options, option values and file names.')
    .addArgument(new Argument('<shell>', shells.join(', ')).argParser(parseWord('a shell', shells)))
    .action(async (shell: (typeof shells)[number], _options: object, command: SettingCommand) => {
      process.stdout.write(completionScript(shell, commandWords(await command.whole())));
    });
}
