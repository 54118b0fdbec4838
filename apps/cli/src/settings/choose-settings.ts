import { UsageError } from '@halogrid/service/usage-error';
import type { Command, Option } from 'commander';
import { droppedBy, onlyTyped } from './exclusions.ts';
import { notOfFolder, ofFolder } from './folder-options.ts';
import type { Settings } from './read-settings.ts';
import {
  expandHome,
  parseRaw,
  type RawValue,
  settingKey,
  valueOfToml,
  valueOfVariable,
  variableOf,
} from './setting-values.ts';
import { isTable, keyPlace, type SettingsFile, type Table } from './settings-file.ts';

/** The places of values, by precedence. */
export const places = ['command line', 'environment', 'profile', 'folder', 'user', 'default'] as const;
export type SettingPlace = (typeof places)[number];

/** The value of an option, with its place. */
export interface Setting {
  readonly option: Option;
  readonly key: string;
  readonly place: SettingPlace;
  /** `HALOGRID_TILE`, `halogrid.toml:12`; undefined for the command line and defaults. */
  readonly from: string | undefined;
  readonly value: unknown;
  /** Why the text there is not a valid value. */
  readonly error?: string;
}

/** The names of a command without the name of the program: `['bench', 'kernels']`. */
export function commandPath(command: Command): string[] {
  return command.parent ? [...commandPath(command.parent), command.name()] : [];
}

/** The options of a command that may be set outside the command line. */
export function settable(command: Command): Option[] {
  if (command.parent === null) return [];
  const own = onlyTyped[commandPath(command).join(' ')] ?? {};
  return command.options.filter(
    (option) => !option.hidden && settingKey(option) !== 'profile' && !(settingKey(option) in own),
  );
}

/**
 * The options of a command after its command line was parsed. Each has the value of the first place that has one,
 * unless a value of an earlier place excludes it.
 */
export function chooseSettings(command: Command, settings: Settings): Setting[] {
  const chosen = new Map<string, Setting>();
  const name = commandPath(command).join(' ');
  const dropped = new Set<string>();
  const drop = (key: string, value: unknown): void => {
    for (const each of droppedBy(name, key, value)) dropped.add(each);
  };
  for (const option of command.options) {
    const attribute = option.attributeName();
    if (command.getOptionValueSource(attribute) !== 'cli') continue;
    const value = command.getOptionValue(attribute);
    chosen.set(settingKey(option), { option, key: settingKey(option), place: 'command line', from: undefined, value });
    drop(settingKey(option), value);
  }
  for (const [place, find] of finders(command, settings)) {
    const given = settable(command).flatMap((option) => {
      const key = settingKey(option);
      if (chosen.has(key) || dropped.has(key)) return [];
      const found = find(option, key);
      return found ? [{ option, key, place, from: found.from, ...valueOrError(found.value) }] : [];
    });
    for (const setting of given) chosen.set(setting.key, setting);
    // Options from one place do not exclude each other here: the command refuses them.
    for (const { key, value } of given) drop(key, value);
    if (place === 'environment' && settings.env.HALOGRID_TOKEN) drop('token', undefined);
  }
  return [
    ...chosen.values(),
    ...settable(command)
      .filter((option) => !chosen.has(settingKey(option)))
      .map((option) => ({
        option,
        key: settingKey(option),
        place: 'default' as const,
        from: undefined,
        value: option.defaultValue,
      })),
  ];
}

type Find = (option: Option, key: string) => { from: string; value: () => unknown } | undefined;

function finders(command: Command, settings: Settings): [SettingPlace, Find][] {
  const { env, files } = settings;
  const atHome = (option: Option, raw: RawValue): RawValue =>
    typeof raw === 'boolean' ? raw : raw.map((text) => expandHome(option, text, env.HOME));
  const inEnvironment: Find = (option, key) => {
    const from = variableOf(key);
    const text = env[from];
    if (!text) return undefined;
    return { from, value: () => parseRaw(option, atHome(option, valueOfVariable(option, text))) };
  };
  const path = commandPath(command);
  const profile = profileOf(command, settings);
  const inFiles = (owner?: SettingsFile['owner']): Find => {
    const sections = files
      .filter((file) => owner === undefined || file.owner === owner)
      .flatMap((file) => sectionsOf(file, owner ? [] : ['profiles', profile!.name], path));
    return (option, key) => {
      const section = sections.find(
        ({ table, isOfRun }) => table[key] !== undefined && !isTable(table[key]) && !(isOfRun && ofOutput.has(key)),
      );
      if (!section) return undefined;
      const { file, table, names } = section;
      return {
        from: keyPlace(file, names, key),
        value: () => parseRaw(option, atHome(option, rawOf(file, option, key, table[key]))),
      };
    };
  };
  return [
    ['environment', inEnvironment],
    ...(profile ? [['profile', inFiles()] satisfies [SettingPlace, Find]] : []),
    ['folder', inFiles('folder')],
    ['user', inFiles('user')],
  ];
}

function rawOf(file: SettingsFile, option: Option, key: string, value: unknown): RawValue {
  if (file.owner === 'folder' && !ofFolder.has(key)) {
    const why = notOfFolder[key] ?? 'it is not an option that the file of a folder may set';
    throw new UsageError(
      `Expected no ${key} in the file of a folder, because ${why}; set it in ~/.config/halogrid/halogrid.toml, ${variableOf(key)} or the command line`,
    );
  }
  return valueOfToml(option, value);
}

interface Section {
  file: SettingsFile;
  table: Table;
  names: string[];
  /** Whether it is the section of `run`, taken for a plan. */
  isOfRun?: boolean;
}

/** Options of `run` about its output. Its other options also hold for `plan`. */
const ofOutput: ReadonlySet<string> = new Set(['json', 'quiet']);

/**
 * The tables of a file that hold for a command, the most specific first: [bench.kernels], [bench], and the top of the
 * file. For a plan, [run] comes after [plan].
 */
export function sectionsOf(file: SettingsFile, within: readonly string[], path: readonly string[]): Section[] {
  const found: Section[] = [];
  let table: unknown = file.root;
  const names = [...within, ...path];
  for (let depth = 0; depth <= names.length && isTable(table); depth++) {
    if (depth >= within.length) found.unshift({ file, table, names: names.slice(0, depth) });
    table = table[names[depth]!];
  }
  if (path[0] !== 'plan') return found;
  const ofRun = sectionsOf(file, within, ['run']).filter((section) => section.names.length > within.length);
  const above = found.filter((section) => section.names.length === within.length);
  const own = found.filter((section) => section.names.length > within.length);
  return [...own, ...ofRun.map((section) => ({ ...section, isOfRun: true })), ...above];
}

/** The profile that is asked for; undefined if none is. Throws UsageError if no file has it. */
function profileOf(command: Command, { env, files, lookedAt }: Settings): { name: string } | undefined {
  const typed = command.getOptionValue('profile') as string | undefined;
  const name = typed ?? (env.HALOGRID_PROFILE || undefined);
  if (name === undefined) return undefined;
  const names = [...new Set(files.flatMap(({ root }) => (isTable(root.profiles) ? Object.keys(root.profiles) : [])))];
  if (names.includes(name)) return { name };
  const asked = typed === undefined ? 'HALOGRID_PROFILE' : '--profile';
  throw new UsageError(
    names.length > 0
      ? `Expected one of ${names.join(', ')} for ${asked} but received '${name}'`
      : `There is no profile for ${asked} ${name}: write [profiles.${name}] into ${lookedAt.join(' or ')}`,
  );
}

function valueOrError(read: () => unknown): { value: unknown; error?: string } {
  try {
    return { value: read() };
  } catch (error) {
    return { value: undefined, error: (error as Error).message };
  }
}
