import type { Schema } from '@halogrid/proto/json';

/** The schemas of a description by their addresses. */
export type Schemas = Readonly<Record<string, Schema>>;

/**
 * For tests: where and why a value does not fit a schema; undefined if it fits. Knows the parts of schemas that the
 * description of the API uses.
 */
export function misfit(value: unknown, schema: Schema, schemas: Schemas, at = 'the answer'): string | undefined {
  const { $ref, anyOf, type, minimum, maximum } = schema as Record<string, never>;
  if (anyOf) {
    const misfits = (anyOf as readonly Schema[]).map((one) => misfit(value, one, schemas, at));
    return misfits.includes(undefined) ? undefined : misfits[0];
  }
  if ($ref) return misfit(value, schemas[String($ref).split('/').at(-1)!]!, schemas, at);
  switch (type as string) {
    case 'string': {
      const names = schema.enum as string[] | undefined;
      return typeof value === 'string' && (names?.includes(value) ?? true) ? undefined : `${at} is ${value}`;
    }
    case 'boolean':
      return typeof value === 'boolean' ? undefined : `${at} is ${value}`;
    case 'integer':
      return Number.isInteger(value) && (value as number) >= minimum && (value as number) <= maximum
        ? undefined
        : `${at} is ${value}`;
    case 'number':
      return Number.isFinite(value) ? undefined : `${at} is ${value}`;
    case 'array':
      if (!Array.isArray(value)) return `${at} is not a list`;
      return first(value.entries(), ([i, one]) => misfit(one, schema.items as Schema, schemas, `${at}[${i}]`));
    default:
      return misfitObject(value, schema, schemas, at);
  }
}

function misfitObject(value: unknown, schema: Schema, schemas: Schemas, at: string): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return `${at} is not an object`;
  const {
    properties = {},
    required = [],
    additionalProperties: others = true,
  } = schema as {
    properties?: Record<string, Schema>;
    required?: string[];
    additionalProperties?: Schema | boolean;
  };
  const missing = required.find((name) => !Object.hasOwn(value, name));
  if (missing) return `${at} has no ${missing}`;
  return first(Object.entries(value), ([name, one]) => {
    const known = Object.hasOwn(properties, name) ? properties[name] : others;
    if (known === false) return `${at} has ${name}, which is not described`;
    return known === true ? undefined : misfit(one, known as Schema, schemas, `${at}.${name}`);
  });
}

function first<One>(all: Iterable<One>, look: (one: One) => string | undefined): string | undefined {
  for (const one of all) {
    const found = look(one);
    if (found) return found;
  }
  return undefined;
}
