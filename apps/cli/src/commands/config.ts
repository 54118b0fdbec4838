import { UsageError } from '@halogrid/service';
import type { Command } from 'commander';
import { checkNames } from '../settings/check-names.ts';
import { commandPath } from '../settings/choose-settings.ts';
import { describeConfig, factsOf, type ShownOption } from '../settings/describe-config.ts';
import { foundFiles } from '../settings/read-settings.ts';
import { leavesOf, type SettingCommand } from '../settings/setting-command.ts';

export function addConfigCommand(program: Command): void {
  program
    .command('config')
    .description(
      'Shows every option of a command with its value and where that comes from; without a command, only the options that ' +
        'are set. The first of these counts: command line, HALOGRID_NAME in the environment, profile, halogrid.toml of this ' +
        'folder, halogrid.toml of the user.',
    )
    .argument('[command...]', 'a command, such as run or bench kernels')
    .option('--json', 'print JSON: every option of the command, or of all commands')
    .action(async (words: string[], options: { json?: boolean; profile?: string }, command: SettingCommand) => {
      const { settings } = command;
      const whole = await command.whole();
      // Here the sections of all commands are checked.
      const names = whole.commands.map((each) => each.name());
      await checkNames(settings, whole, names, async () => whole);
      const asked = words.join(' ');
      const leaves = leavesOf(whole).filter((leaf) => asked === '' || isOf(commandPath(leaf), words));
      if (leaves.length === 0) throw new UsageError(`Expected a command, such as run, but received '${asked}'`);
      const facts: ShownOption[] = leaves.flatMap((leaf) => factsOf(leaf, settings, options.profile));
      const found = foundFiles(settings);
      process.stdout.write(
        options.json
          ? `${JSON.stringify({ files: found, options: facts }, null, 2)}\n`
          : describeConfig(facts, found, asked !== ''),
      );
    });
}

const isOf = (path: readonly string[], words: readonly string[]): boolean => words.every((word, i) => path[i] === word);
