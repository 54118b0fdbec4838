import { UsageError } from '@halogrid/service/usage-error';
import type { Option } from 'commander';
import { collect } from '../options/option-values.ts';

/** A value before the option's own parser: a flag, or the texts that would be typed, one for each use of the option. */
export type RawValue = boolean | string[];

/** An option's name in files: `max-quarantined` of `--max-quarantined`, `decoders` of `--no-decoders`. */
export const settingKey = (option: Option): string =>
  option.negate ? option.name().slice('no-'.length) : option.name();

/** The variable of an option: `HALOGRID_MAX_QUARANTINED`. */
export const variableOf = (key: string): string => `HALOGRID_${key.toUpperCase().replaceAll('-', '_')}`;

const isFlag = ({ required, optional }: Option): boolean => !required && !optional;

const isRepeated = ({ variadic, parseArg }: Option): boolean => variadic || (parseArg as unknown) === collect;

/** Whether the option takes several values in one text, `a,b`. */
const isJoined = ({ flags }: Option): boolean => flags.includes(',…');

/** Whether the option takes the name of a file or folder, by its placeholder. */
const isPath = ({ flags }: Option): boolean => /<(?:file|dir)\b/.test(flags);

/**
 * Expands `~/x` as a shell would, because no shell reads a file of settings. Other texts, and options that do not take
 * a path, are returned unchanged.
 */
export function expandHome(option: Option, text: string, home: string | undefined): string {
  return isPath(option) && home ? text.replace(/^~(?=\/|$)/, () => home) : text;
}

/** The value of a variable for an option. Throws UsageError. */
export function valueOfVariable(option: Option, text: string): RawValue {
  if (!isFlag(option)) return isRepeated(option) ? words(text) : [text];
  const word = text.toLowerCase();
  if (['1', 'true', 'yes', 'on'].includes(word)) return true;
  if (['0', 'false', 'no', 'off'].includes(word)) return false;
  throw new UsageError(`Expected true or false but received '${text}'`);
}

/** The value in TOML for an option. Throws UsageError. */
export function valueOfToml(option: Option, value: unknown): RawValue {
  const shown = JSON.stringify(value);
  if (isFlag(option)) {
    if (typeof value === 'boolean') return value;
    throw new UsageError(`Expected true or false for ${settingKey(option)} but received ${shown}`);
  }
  if (!Array.isArray(value)) return [textOfToml(option, value)];
  const texts = value.map((each) => textOfToml(option, each));
  if (isRepeated(option)) return texts;
  if (isJoined(option)) return [texts.join(',')];
  throw new UsageError(`Expected one value for ${settingKey(option)} but received ${shown}`);
}

function textOfToml(option: Option, value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  // For a date of TOML, this is the text in the file.
  if (value instanceof Date) return value.toISOString();
  throw new UsageError(`Expected a text or a number for ${settingKey(option)} but received ${JSON.stringify(value)}`);
}

/** The value after the option's own parser. Throws what the parser throws. */
export function parseRaw(option: Option, raw: RawValue): unknown {
  if (typeof raw === 'boolean') return raw;
  const { parseArg } = option;
  if (!parseArg) return isRepeated(option) ? raw : raw[0];
  return raw.reduce<unknown>((before, text) => parseArg(text, before), undefined);
}

/** Splits words as a shell does: white space separates them, quotes keep one together. Throws UsageError. */
export function words(text: string): string[] {
  const found: string[] = [];
  const word = /\s*((?:[^\s'"]|'[^']*'|"[^"]*")+)\s*/y;
  while (word.lastIndex < text.length) {
    const at = word.lastIndex;
    const [, quoted] = word.exec(text) ?? [];
    if (quoted === undefined) {
      if (text.slice(at).trim() === '') break;
      throw new UsageError(`Expected a quote at the end of ${text.slice(at).trim()}`);
    }
    found.push(quoted.replaceAll(/'([^']*)'|"([^"]*)"/g, (_, single, double) => single ?? double));
  }
  return found;
}
