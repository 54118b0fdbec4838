import { HalogridError } from '@halogrid/client';
import { didYouMean } from '@halogrid/kernels';
import type { Option } from 'commander';
import { nameInProgram } from './name-in-program.ts';
import type { RunOptions } from './run-options.ts';

const example = "run({ sources: 'photos', op: 'lbp' })";

/** Returns what a value may be if it has another type; undefined if the type is right. */
type Check = (value: unknown) => string | undefined;

const texts =
  (allowed: string): Check =>
  (value) =>
    [value].flat().every(isText) ? undefined : allowed;

/** Options that the command does not have, or that also take other types than text. */
const own: Readonly<Record<string, Check>> = {
  sources: texts('a path or URI, or a list of them,'),
  op: texts('a kernel, or a list of them,'),
  pipelines: (value) =>
    isPlain(value) &&
    Object.keys(value).length > 0 &&
    Object.values(value).every((ops) => texts('a kernel')(ops) === undefined)
      ? undefined
      : "kernels by the names of pipelines, such as { codes: 'lbp' },",
  grid: (value) => (typeof value === 'string' || isGrid(value) ? undefined : "'4x6' or { rows: 4, columns: 6 }"),
  signal: (value) => (value instanceof AbortSignal ? undefined : 'an AbortSignal'),
  note: (value) => (typeof value === 'function' ? undefined : 'a function'),
};
const flag: Check = (value) => (typeof value === 'boolean' ? undefined : 'true or false');
const word: Check = (value) => (['string', 'number'].includes(typeof value) ? undefined : 'a text or a number');

/**
 * Throws HalogridError if a call has no sources, an unknown option, or a value of the wrong type. `command` are the
 * options of the command, which checks their values itself.
 */
export function checkRunOptions(given: RunOptions, command: readonly Option[]): RunOptions {
  if (!isPlain(given)) throw refusal(`Expected options but received '${shown(given)}': ${example}`);
  const ofCommand = command.map((option): [string, Check] => [
    nameInProgram(option.long!),
    option.required || option.optional ? word : flag,
  ]);
  const checks = new Map([...ofCommand, ...Object.entries(own)]);
  const names = [...checks.keys()];
  for (const [name, value] of Object.entries(given)) {
    const check = checks.get(name);
    if (!check) {
      const hint = didYouMean(name, names);
      throw refusal(`Expected one of ${names.join(', ')} for an option of run but received '${name}'${hint}`, name);
    }
    const allowed = value === undefined ? undefined : check(value);
    if (allowed) throw refusal(`Expected ${allowed} for ${name} but received '${shown(value)}'`, name);
  }
  if ([given.sources ?? []].flat().length > 0) return given;
  throw refusal(`Expected a path or URI for sources but received none: ${example}`, 'sources');
}

const refusal = (sentence: string, field?: string): HalogridError =>
  new HalogridError('INVALID_ARGUMENT', sentence, { field });

const isText = (value: unknown): boolean => typeof value === 'string';

const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isGrid = (value: unknown): boolean =>
  isPlain(value) &&
  Object.keys(value).sort().join() === 'columns,rows' &&
  Object.values(value).every((side) => typeof side === 'number');

/**
 * A value as text for an error. A list with texts is shown as its first value that is not a text, because texts may
 * hold passwords.
 */
function shown(value: unknown): string {
  if (Array.isArray(value) && value.some(isText)) return shown(value.find((one) => !isText(one)));
  if (typeof value === 'function') return 'a function';
  if (typeof value !== 'object' || value === null) return String(value);
  try {
    return JSON.stringify(value).slice(0, 200);
  } catch {
    return Array.isArray(value) ? 'a list' : 'an object';
  }
}
