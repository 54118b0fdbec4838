import { nearestWord } from '@halogrid/kernels';
import { named, namedAll, type Sentence, sentence } from '@halogrid/proto/sentence';
import { UsageError } from '@halogrid/service';
import type { Option } from 'commander';
import { nameInProgram } from './name-in-program.ts';
import type { RunOptions } from './run-options.ts';

const example = "run({ sources: 'photos', op: 'lbp' })";

/** Options that are no options of the command, and which types they have. */
const own: Record<string, (value: unknown) => string | undefined> = {
  sources: textsOr('a path or URI, or a list of them'),
  pipelines: (value) =>
    isPlain(value) && Object.values(value).every((ops) => textsOr('')(ops) === undefined)
      ? undefined
      : "kernels by the names of pipelines, such as { codes: 'lbp' }",
  signal: (value) => (value instanceof AbortSignal ? undefined : 'an AbortSignal'),
  note: (value) => (typeof value === 'function' ? undefined : 'a function'),
};

/** Throws UsageError where a call has no sources, an option that there is not, or a value of another type; `command` are the options of the command. */
export function checkOptions(given: RunOptions | undefined, command: readonly Option[]): RunOptions {
  if (!isPlain(given)) throw new UsageError(`Expected options but received '${shown(given)}': ${example}`);
  const options = new Map(command.map((option) => [nameInProgram(option.long!), option]));
  const names = [...Object.keys(own), ...options.keys()];
  for (const [name, value] of Object.entries(given)) {
    if (!names.includes(name)) throw new UsageError(unknown(name, names), { field: name });
    if (value === undefined) continue;
    const allowed = own[name]?.(value) ?? (options.has(name) ? expected(name, options.get(name)!, value) : undefined);
    if (allowed) throw wrong(name, allowed, shown(value));
  }
  const { sources } = given as unknown as RunOptions;
  if (sources === undefined || [sources].flat().length === 0) {
    throw new UsageError(sentence`Expected a path or URI for ${named('sources')} but received none: ${example}`);
  }
  return given as unknown as RunOptions;
}

const wrong = (name: string, allowed: string, received: string): UsageError =>
  new UsageError(sentence`Expected ${allowed} for ${named(name)} but received '${received}'`);

function unknown(name: string, names: readonly string[]): Sentence {
  const near = nearestWord(name, names);
  const hint = near === undefined ? '' : sentence` (did you mean ${named(near)}?)`;
  return sentence`Expected one of ${namedAll(names)} for an option of run but received '${named(name)}'${hint}`;
}

/** What an option takes, where a value is of another type. */
function expected(name: string, option: Option, value: unknown): string | undefined {
  const isFlag = !option.required && !option.optional;
  if (isFlag) return typeof value === 'boolean' ? undefined : 'true or false';
  if (name === 'grid' && isPlain(value)) {
    const { rows, columns } = value;
    const isGrid = Object.keys(value).length === 2 && typeof rows === 'number' && typeof columns === 'number';
    return isGrid ? undefined : "'4x6' or { rows: 4, columns: 6 }";
  }
  if (name === 'op') return textsOr('a kernel, or a list of them')(value);
  return typeof value === 'string' || typeof value === 'number' ? undefined : 'a text or a number';
}

function textsOr(allowed: string): (value: unknown) => string | undefined {
  return (value) => ([value].flat().every((one) => typeof one === 'string') ? undefined : allowed);
}

const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function shown(value: unknown): string {
  if (typeof value === 'function') return 'a function';
  if (!isPlain(value) && !Array.isArray(value)) return String(value);
  try {
    return JSON.stringify(value).slice(0, 200);
  } catch {
    return Array.isArray(value) ? 'a list' : 'an object';
  }
}
