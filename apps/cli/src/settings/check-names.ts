import { didYouMean } from '@halogrid/kernels/did-you-mean';
import { UsageError } from '@halogrid/service/usage-error';
import type { Command } from 'commander';
import { settable } from './choose-settings.ts';
import type { Settings } from './read-settings.ts';
import { settingKey, variableOf } from './setting-values.ts';
import { isTable, keyPlace, type SettingsFile, type Table } from './settings-file.ts';
import { otherVariables, unknownVariables } from './variables.ts';

/** The keys that may set options of a command, or of one below it. */
export function keysOf(command: Command): Set<string> {
  return new Set([...settable(command).map(settingKey), ...command.commands.flatMap((each) => [...keysOf(each)])]);
}

/** An unknown name in a file of settings. */
export interface UnknownName {
  sentence: string;
  /** Whether all commands must be loaded to be sure. */
  isOfAny: boolean;
}

/**
 * The first unknown key of a file; undefined if there is none. Only sections of commands that are loaded in `program`
 * are checked; `names` are the names of all commands.
 */
export function unknownKey(file: SettingsFile, program: Command, names: readonly string[]): UnknownName | undefined {
  const profiles = isTable(file.root.profiles) ? Object.entries(file.root.profiles) : [];
  const { profiles: _, ...root } = file.root;
  for (const [within, table] of [[[], root], ...profiles.map(([name, table]) => [['profiles', name], table])] as [
    string[],
    unknown,
  ][]) {
    const found = isTable(table) ? unknownIn(table, within, program, names) : undefined;
    if (!found) continue;
    const { section, key, allowed, isOfAny } = found;
    const place = keyPlace(file, section, key);
    const where = section.length > 0 ? ` in [${section.join('.')}]` : '';
    // The names are too many for a sentence.
    const expected = isOfAny ? "an option's name ('halogrid config' lists them)" : `one of ${allowed.join(', ')}`;
    const meant = didYouMean(isOfAny ? key : `[${[...section, key].join('.')}]`, allowed) || didYouMean(key, allowed);
    return { sentence: `${place}: Expected ${expected}${where} but found '${key}'${meant}`, isOfAny };
  }
  return undefined;
}

interface Found {
  section: string[];
  key: string;
  allowed: string[];
  isOfAny: boolean;
}

function unknownIn(table: Table, section: string[], command: Command, names: readonly string[]): Found | undefined {
  const keys = keysOf(command);
  const isTop = command.parent === null;
  const tables = [...new Set([...names, ...(isTop && section.length === 0 ? ['profiles'] : [])])];
  for (const [key, value] of Object.entries(table)) {
    if (isTable(value)) {
      // A command that is not loaded has no options.
      const below = command.commands.find(
        (each) => each.name() === key && each.options.length + each.commands.length > 0,
      );
      const found =
        below &&
        unknownIn(
          value,
          [...section, key],
          below,
          below.commands.map((each) => each.name()),
        );
      if (found) return found;
      if (!names.includes(key)) {
        return { section, key, allowed: tables.map((name) => `[${[...section, name].join('.')}]`), isOfAny: false };
      }
    } else if (!keys.has(key)) {
      return { section, key, allowed: [...keys].sort(), isOfAny: isTop };
    }
  }
  return undefined;
}

/**
 * Sentences about variables that look like settings but are not. `whole` gives the program with all of its commands,
 * and is called only if the command that runs does not have a name. Rejects with UsageError if a file has an unknown
 * name.
 */
export async function checkNames(
  settings: Settings,
  program: Command,
  names: readonly string[],
  whole: () => Promise<Command>,
): Promise<string[]> {
  for (const file of settings.files) {
    let unknown = unknownKey(file, program, names);
    if (unknown?.isOfAny) unknown = unknownKey(file, await whole(), names);
    if (unknown) throw new UsageError(unknown.sentence);
  }
  const variablesOf = (command: Command) => new Set([...keysOf(command)].map(variableOf)).add('HALOGRID_PROFILE');
  if (unknownVariables(settings.env, variablesOf(program)).length === 0) return [];
  const known = variablesOf(await whole());
  return unknownVariables(settings.env, known).map((name) => {
    const meant = didYouMean(name, [...known, ...Object.keys(otherVariables)]);
    return `${name} is set, and no option or variable of halogrid has that name${meant}.`;
  });
}
