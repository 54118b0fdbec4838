import { ParameterError } from '../kernel/parameter-error.ts';
import type { Grid } from '../pipeline/grid.ts';
import type { Picture } from './types.ts';

/** Options of every run. */
export const runOptions = ['device', 'grid', 'map'] as const;

/**
 * The options of a call; an empty object if none are given. Throws ParameterError unless it is an object with only the
 * options `names`.
 */
export function checkOptions<Options extends object>(given: Options | undefined, names: readonly string[]): Options {
  const options = given ?? ({} as Options);
  if (typeof options !== 'object' || Array.isArray(options) || ArrayBuffer.isView(options)) {
    throw new ParameterError('the options', shown(options), `an object of ${names.join(', ')}`);
  }
  for (const name of Object.keys(options)) {
    if (!names.includes(name)) throw new ParameterError('an option', name, names);
  }
  return options;
}

/** Throws ParameterError unless the value has the form of a picture. */
export function checkPicture(given: Picture): Picture {
  const isObject = typeof given === 'object' && given !== null;
  if (isObject && 'data' in given && 'width' in given && 'height' in given) return given;
  const remedy = ArrayBuffer.isView(given) ? ', with the pixels of a decoded image as data,' : '';
  throw new ParameterError('a picture', shown(given), `an ImageData or { data, width, height }${remedy}`);
}

/** Throws ParameterError unless the value has the form of a grid; `checkGrid` checks the numbers. */
export function checkGridForm(given: Grid): Grid {
  const isGrid = typeof given === 'object' && given !== null && 'rows' in given && 'columns' in given;
  if (isGrid && [given.rows, given.columns].every((count) => typeof count === 'number')) return given;
  throw new ParameterError('the grid', shown(given), 'rows and columns, as { rows: 4, columns: 6 },');
}

/** Describes a value in a few words. */
export function shown(value: unknown): string {
  if (typeof value === 'function') return 'a function';
  if (typeof value !== 'object' || value === null) return String(value);
  const name = Object.prototype.toString.call(value).slice(8, -1);
  if (ArrayBuffer.isView(value)) return `${value.constructor.name} of ${value.byteLength} bytes`;
  if (name !== 'Object' && name !== 'Array') return name;
  try {
    return JSON.stringify(value, (_, inner) => (ArrayBuffer.isView(inner) ? shown(inner) : inner)) ?? name;
  } catch {
    return name;
  }
}
