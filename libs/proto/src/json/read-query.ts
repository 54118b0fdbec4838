import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import { sentence } from '../sentence.ts';
import { hasDefault } from './messages.ts';
import { defaultOf, FieldError } from './read-message.ts';
import { wholeRanges } from './scalars.ts';

/**
 * Reads a message from the query of a URL. Parameters are named like the message's fields in the .proto files. Each may
 * be given once, except lists. An empty number counts as missing. Throws FieldError.
 */
export function readQuery<Message>(message: DescMessage, query: URLSearchParams): Message {
  const fields = new Map(message.fields.map((field) => [field.name, field]));
  for (const name of query.keys()) {
    const known = fields.size > 0 ? [...fields.keys()] : 'none';
    if (!fields.has(name)) throw new FieldError(name, known, name, sentence`a parameter`);
  }
  const read: Record<string, unknown> = {};
  for (const [name, field] of fields) {
    const texts = query.getAll(name);
    if (field.fieldKind === 'list') read[field.jsonName] = texts.map((text) => readText(field, name, text));
    else if (texts.length > 1) throw new FieldError(name, 'one value', 'several');
    else {
      const value = texts[0] === undefined ? undefined : readText(field, name, texts[0]);
      if (value !== undefined || hasDefault(field)) read[field.jsonName] = value ?? defaultOf(field);
    }
  }
  return read as Message;
}

function readText({ scalar }: DescField, name: string, text: string): unknown {
  if (scalar === ScalarType.STRING) return text;
  if (text === '') return undefined;
  if (scalar === ScalarType.BOOL) {
    if (text === 'true' || text === 'false') return text === 'true';
    throw new FieldError(name, 'true or false', text);
  }
  const [least, most] = wholeRanges[scalar!]!;
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(value)) throw new FieldError(name, 'a whole number', text);
  if (value >= least && value <= most) return value;
  throw new FieldError(name, `a whole number from ${least} to ${most}`, text);
}
