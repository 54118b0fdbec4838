import { UsageError } from '@halogrid/service/usage-error';
import { Command, Option, type ParseOptionsResult } from 'commander';
import { chooseSettings, type Setting } from './choose-settings.ts';
import type { Settings } from './read-settings.ts';

/** State that a program shares with all of its commands. */
interface Shared {
  readonly settings: Settings;
  /** Gives the program with all of its commands. */
  readonly whole: () => Promise<SettingCommand>;
  /** The settings of the command that runs. */
  chosen: readonly Setting[];
}

/** A command whose options, like the options of commands below it, may come from the environment and from files. */
export class SettingCommand extends Command {
  readonly #shared: Shared;

  constructor(name: string | undefined, shared: Shared) {
    super(name);
    this.#shared = shared;
  }

  /** The program with all of its commands; this one may have loaded a single command. */
  whole(): Promise<SettingCommand> {
    return this.#shared.whole();
  }

  /** The places of options besides the command line. */
  get settings(): Settings {
    return this.#shared.settings;
  }

  override createCommand(name?: string): SettingCommand {
    return new SettingCommand(name, this.#shared);
  }

  /**
   * Called once the command is known, before commander checks for missing options and options that exclude each other.
   */
  override parseOptions(args: string[]): ParseOptionsResult {
    const parsed = super.parseOptions(args);
    // An unknown word may be --help. A process that another one started has all settings on its command line.
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

  /** A sentence about options of the command that ran, after the places of their values if they were not typed. */
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

/** The commands below a command that can be run. */
export function leavesOf(command: SettingCommand): SettingCommand[] {
  const below = command.commands as SettingCommand[];
  return below.length === 0 ? [command] : below.flatMap(leavesOf);
}

/**
 * Adds the options that every command has: `--profile`, and `--no-NAME` for every flag, which overrides a file that
 * sets it.
 */
export function addCommonOptions(command: Command): void {
  for (const each of command.commands) addCommonOptions(each);
  if (command.commands.length > 0) return;
  const flags = command.options.filter((option) => option.isBoolean() && !option.negate && !option.hidden);
  for (const { long } of flags) command.addOption(new Option(`--no-${long!.slice(2)}`).hideHelp());
  command.option('--profile <name>', 'use the settings of [profiles.NAME] in a halogrid.toml');
}
