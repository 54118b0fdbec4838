import { table } from '@halogrid/service/text-table';
import type { Command } from 'commander';
import { chooseSettings, commandPath, type SettingPlace } from './choose-settings.ts';
import { onlyTyped } from './exclusions.ts';
import type { Settings } from './read-settings.ts';
import { variableOf } from './setting-values.ts';

/** An option as `halogrid config` shows it. */
export interface ShownOption {
  command: string;
  option: string;
  /** null if it has none. */
  value: unknown;
  place: SettingPlace;
  /** The variable, or the file and its line; null for defaults. */
  from: string | null;
  variable: string;
  /** Why the value there is refused. */
  error?: string;
  /** Why only the command line may set it. */
  onlyTyped?: string;
}

/**
 * Every option of a command with its value, and with the profile if one is asked for. Throws UsageError if there is no
 * such profile.
 */
export function factsOf(command: Command, settings: Settings, profile: string | undefined): ShownOption[] {
  const env = profile === undefined ? settings.env : { ...settings.env, HALOGRID_PROFILE: profile };
  const name = commandPath(command).join(' ');
  const chosen = chooseSettings(command, { ...settings, env }).map(({ key, value, place, from, error }) => ({
    command: name,
    option: key,
    value: withoutSecrets(value) ?? null,
    place,
    from: from ?? null,
    variable: variableOf(key),
    error,
  }));
  const typed = Object.entries(onlyTyped[name] ?? {}).map(([key, why]) => ({
    command: name,
    option: key,
    value: null,
    place: 'default' as const,
    from: null,
    variable: variableOf(key),
    onlyTyped: why,
  }));
  return [...chosen, ...typed];
}

/** A value without the passwords that URLs may have. */
function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value !== 'string') return value;
  return value
    .replace(/^([a-z][a-z0-9+.-]*:\/\/[^/@:?#]*):[^@]*@/i, '$1:***@')
    .replaceAll(/([?&](?:password|sslpassword)=)[^&]*/gi, '$1***');
}

interface FoundFile {
  path: string;
  isThere: boolean;
}

/** The settings as text: for one command all options, for all commands only options that are set. */
export function describeConfig(facts: readonly ShownOption[], files: readonly FoundFile[], isOfOne: boolean): string {
  const shown = isOfOne ? facts : facts.filter(({ place }) => place !== 'default');
  const rows = shown.map(({ command, option, value, place, from, error, onlyTyped }) => {
    const where = from ?? (onlyTyped ? `command line only: ${onlyTyped}` : place);
    return [command, option, error === undefined ? textOf(value) : 'refused', where];
  });
  const refusals = new Set(facts.flatMap(({ from, error }) => (error === undefined ? [] : [`${from}: ${error}\n`])));
  const found = files.map(({ path, isThere }) => [path, isThere ? 'read' : 'not there']);
  const head = isOfOne ? '' : "'halogrid config COMMAND' shows all options of a command, with their defaults.\n";
  return [
    table(found),
    'Order: command line, environment (HALOGRID_NAME), profile, file of the folder, file of the user, default.\n',
    head,
    '\n',
    rows.length > 0 ? table([['COMMAND', 'OPTION', 'VALUE', 'FROM'], ...rows]) : 'No option is set.\n',
    ...(refusals.size > 0 ? ['\nRefused:\n', ...refusals] : []),
  ].join('');
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return '-';
  if (Array.isArray(value)) return value.map(textOf).join(' ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
