import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import { named, namedAll, type Sentence, sentence } from '../sentence.ts';
import { hasDefault } from './messages.ts';
import { wholeRanges } from './scalars.ts';

/**
 * The error for a value that a request may not have. `field` is the name that the request uses: `grid.rows`,
 * `sources[2]`.
 */
export class FieldError extends Error {
  readonly field: string;
  /** What the value belongs to: the field, or words if there is no such field. */
  readonly what: Sentence;
  readonly allowed: Sentence;
  readonly received: string;
  /** The allowed names, if `received` is a name that does not exist. */
  readonly names: readonly string[];

  /** `allowed`: in words, or as the list of allowed names. */
  constructor(field: string, allowed: string | readonly string[], received: string, what: Sentence = named(field)) {
    const names = typeof allowed === 'string' ? [] : allowed;
    const some = names.length > 1 ? 'one of ' : '';
    const clause = typeof allowed === 'string' ? sentence`${allowed}` : sentence`${some}${namedAll(names)}`;
    super(`Expected ${clause} for ${what} but received '${received}'`);
    this.name = 'FieldError';
    this.field = field;
    this.what = what;
    this.allowed = clause;
    this.received = received;
    this.names = names;
  }
}

/**
 * Reads a message from JSON; the result is as a decoder gives it. Names are in lowerCamelCase, numbers are JSON
 * numbers, and null counts as missing. Throws FieldError for an unknown field, a value of another type and a number out
 * of range.
 */
export function readMessage<Message>(message: DescMessage, json: unknown): Message {
  return readFields(message, json, '') as Message;
}

function readFields(message: DescMessage, json: unknown, path: string): object {
  const place = path === '' ? sentence`the body` : named(path);
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    const inside = path === '' ? '' : ` of ${message.fields.map(({ jsonName }) => jsonName).join(', ')}`;
    throw new FieldError(path, `an object${inside}`, kindOf(json), place);
  }
  const given = new Map<string, unknown>(Object.entries(json).filter(([, value]) => value !== null));
  const fields = new Map(message.fields.map((field) => [field.jsonName, field]));
  for (const key of given.keys()) {
    if (fields.has(key)) continue;
    throw new FieldError(join(path, key), [...fields.keys()], key, sentence`a field of ${place}`);
  }
  const read: Record<string, unknown> = {};
  for (const [key, field] of fields) {
    const value = given.get(key);
    if (value === undefined) {
      if (hasDefault(field)) read[key] = defaultOf(field);
      continue;
    }
    const found = readField(field, value, join(path, key));
    if (!field.oneof) read[key] = found;
    else if (!read[field.oneof.localName]) read[field.oneof.localName] = { $case: key, value: found };
    else
      throw new FieldError(
        path,
        `one of ${field.oneof.fields.map((one) => one.jsonName).join(', ')}`,
        'several',
        place,
      );
  }
  return read;
}

function readField(field: DescField, value: unknown, path: string): unknown {
  switch (field.fieldKind) {
    case 'list': {
      if (!Array.isArray(value)) throw new FieldError(path, 'a list', kindOf(value));
      return value.map((one, i) => readOne(field, one, `${path}[${i}]`));
    }
    case 'map': {
      if (typeof value !== 'object' || Array.isArray(value)) throw new FieldError(path, 'an object', kindOf(value));
      return Object.fromEntries(
        Object.entries(value as object).map(([key, one]) => [key, readOne(field, one, join(path, key))]),
      );
    }
    default:
      return readOne(field, value, path);
  }
}

/** Reads a single value: the field's own, or an entry of its list or map. */
function readOne(field: DescField, value: unknown, path: string): unknown {
  if (field.message) return readFields(field.message, value, path);
  if (field.enum) {
    const names = field.enum.values.map(({ name }) => name);
    if (typeof value === 'string' && names.includes(value)) return value;
    throw new FieldError(path, `one of ${names.join(', ')}`, shown(value));
  }
  return readScalar(field.scalar as ScalarType, value, path);
}

function readScalar(type: ScalarType, value: unknown, path: string): unknown {
  const range = wholeRanges[type];
  if (range) {
    const [least, most] = range;
    if (Number.isInteger(value) && (value as number) >= least && (value as number) <= most) return value;
    throw new FieldError(path, `a whole number from ${least} to ${most}`, shown(value));
  }
  switch (type) {
    case ScalarType.STRING:
      if (typeof value === 'string') return value;
      throw new FieldError(path, 'a text', shown(value));
    case ScalarType.BOOL:
      if (typeof value === 'boolean') return value;
      throw new FieldError(path, 'true or false', shown(value));
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      // JSON can write numbers that are too large for a double: they parse as Infinity.
      if (typeof value === 'number' && Number.isFinite(value)) return value;
      throw new FieldError(path, 'a number', shown(value));
    default:
      throw new Error(`${path} is of a type that no JSON is read for`);
  }
}

/** The value of a field that was not set. */
export function defaultOf(field: DescField): unknown {
  if (field.fieldKind === 'list') return [];
  if (field.fieldKind === 'map') return {};
  if (field.enum) return field.enum.values[0]!.name;
  if (field.scalar === ScalarType.STRING) return '';
  return field.scalar === ScalarType.BOOL ? false : 0;
}

const join = (path: string, key: string): string => (path === '' ? key : `${path}.${key}`);

const shown = (value: unknown): string => (typeof value === 'object' ? kindOf(value) : String(value));

function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
