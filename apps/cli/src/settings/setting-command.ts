import { UsageError } from '@halogrid/service/usage-error';
import { Command, Option, type ParseOptionsResult } from 'commander';
import { chooseSettings, type Setting } from './choose-settings.ts';
import type { Settings } from './read-settings.ts';

/** What a program and all of its commands share. */
interface Shared {
  readonly settings: Settings;
  /** Gives the program with all of its commands. */
  readonly whole: () => Promise<SettingCommand>;
  /** Of the command that runs. */
  chosen: readonly Setting[];
}

/** A command whose options may come from the environment and from files, with all commands below it. */
export class SettingCommand extends Command {
  readonly #shared: Shared;

  constructor(name: string | undefined, shared: Shared) {
    super(name);
    this.#shared = shared;
  }

  /** The program with all of its commands, where it may have one alone. */
  whole(): Promise<SettingCommand> {
    return this.#shared.whole();
  }

  /** Where its options may come from, besides the command line. */
  get settings(): Settings {
    return this.#shared.settings;
  }

  override createCommand(name?: string): SettingCommand {
    return new SettingCommand(name, this.#shared);
  }

  /** Is called once the command is known, before commander looks for options that are missing or exclude each other. */
  override parseOptions(args: string[]): ParseOptionsResult {
    const parsed = super.parseOptions(args);
    // What is not known may be --help; and a process that another started was told all by that.
    if (this.commands.length === 0 && parsed.unknown.length === 0 && !this.getOptionValue('ownToken')) this.#apply();
    return parsed;
  }

  #apply(): void {
    this.#shared.chosen = chooseSettings(this, this.settings);
    for (const { option, place, from, value, error } of this.#shared.chosen) {
      if (error !== undefined) throw new UsageError(`${from}: ${error}`);
      if (place === 'command line' || place === 'default') continue;
      this.setOptionValueWithSource(option.attributeName(), value, place === 'environment' ? 'env' : 'config');
    }
  }

  /** A sentence about options of the command that ran, with where their values come from where they were not typed. */
  sayingWhere(sentence: string): string {
    const places = this.#shared.chosen
      .filter(
        ({ key, from }) =>
          from !== undefined && !sentence.startsWith(from) && new RegExp(`--${key}(?![\\w-])`).test(sentence),
      )
      .map(({ from }) => from);
    return places.length > 0 ? `${places.join(', ')}: ${sentence}` : sentence;
  }
}

/** The commands that can be run, below a command. */
export function leavesOf(command: SettingCommand): SettingCommand[] {
  const below = command.commands as SettingCommand[];
  return below.length === 0 ? [command] : below.flatMap(leavesOf);
}

/** Gives every command what each has: `--profile`, and `--no-NAME` for every flag, which says no where a file says yes. */
export function addCommonOptions(command: Command): void {
  for (const each of command.commands) addCommonOptions(each);
  if (command.commands.length > 0) return;
  const flags = command.options.filter((option) => option.isBoolean() && !option.negate && !option.hidden);
  for (const { long } of flags) command.addOption(new Option(`--no-${long!.slice(2)}`).hideHelp());
  command.option('--profile <name>', 'use the settings of [profiles.NAME] in a halogrid.toml');
}
