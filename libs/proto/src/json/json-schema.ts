import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import { commentOf } from './comments.ts';
import { jsonName } from './json-name.ts';
import { hasDefault } from './messages.ts';
import { isExact, mostExact, wholeRanges } from './scalars.ts';

/** A schema in JSON Schema 2020-12, as OpenAPI 3.1 uses it. */
export type Schema = { [key: string]: unknown };

export interface SchemaOptions {
  /** Gives the address of a message's schema. Called for every message that another message names. */
  refer: (message: DescMessage) => string;
  /** Whether the message is a request, where fields that have a default may be left out. */
  isAsked: boolean;
  /** Fields that must be given nevertheless, by message. */
  needed?: { readonly [message: string]: readonly string[] };
}

/** The schema of a message's JSON, as readMessage takes it or writeMessage gives it. */
export function jsonSchema(message: DescMessage, options: SchemaOptions): Schema {
  const { isAsked, needed = {} } = options;
  const required = isAsked
    ? needed[message.name]
    : message.fields.filter((field) => hasDefault(field)).map(({ jsonName }) => jsonName);
  return {
    type: 'object',
    ...described(message),
    properties: Object.fromEntries(message.fields.map((field) => [field.jsonName, fieldSchema(field, options)])),
    ...(required && required.length > 0 && { required }),
    additionalProperties: false,
  };
}

/** The schema of a field's value in JSON. */
export function fieldSchema(field: DescField, options: SchemaOptions): Schema {
  const one = valueSchema(field, options);
  if (field.fieldKind === 'list') return { type: 'array', items: one, ...described(field) };
  if (field.fieldKind === 'map') return { type: 'object', additionalProperties: one, ...described(field) };
  return { ...one, ...described(field) };
}

function valueSchema(field: DescField, { refer }: SchemaOptions): Schema {
  if (field.message) return { $ref: refer(field.message) };
  if (field.enum) return { type: 'string', enum: field.enum.values.map(({ name }) => name) };
  const scalar = field.scalar as ScalarType;
  const range = wholeRanges[scalar];
  if (range) {
    const [minimum, maximum] = range;
    if (isExact(field)) return { anyOf: [{ type: 'integer', minimum, maximum: mostExact }, { type: 'string' }] };
    return { type: 'integer', minimum, maximum };
  }
  if (scalar === ScalarType.STRING) return { type: 'string' };
  return { type: scalar === ScalarType.BOOL ? 'boolean' : 'number' };
}

/** The comment of a message or field, with the names that JSON has for fields. */
function described(of: DescMessage | DescField): { description?: string } {
  const description = commentOf(of).replaceAll(/`[a-z_.]+`/g, (name) => jsonName(name));
  return description ? { description } : {};
}
