import type { DescField, DescMessage } from '@bufbuild/protobuf';
import { hasDefault } from './messages.ts';
import { defaultOf } from './read-message.ts';
import { exactNumber, isExact } from './scalars.ts';

/**
 * The JSON value of a message, with only the fields that the .proto files name. Fields that have a default are always
 * there. A oneof gives only the field that is set.
 */
export function writeMessage(message: DescMessage, value: object): object {
  const written: Record<string, unknown> = {};
  for (const field of message.fields) {
    const found = foundIn(field, value as Record<string, unknown>);
    if (found !== undefined && found !== null) written[field.jsonName] = writeField(field, found);
    else if (hasDefault(field)) written[field.jsonName] = defaultOf(field);
  }
  return written;
}

function foundIn({ jsonName, oneof }: DescField, message: Record<string, unknown>): unknown {
  if (!oneof) return message[jsonName];
  const chosen = message[oneof.localName] as { $case: string; value: unknown } | undefined;
  return chosen?.$case === jsonName ? chosen.value : undefined;
}

function writeField(field: DescField, value: unknown): unknown {
  const { message } = field;
  if (isExact(field)) return Array.isArray(value) ? value.map(exactNumber) : exactNumber(value as string);
  if (!message) return value;
  const write = (one: unknown): object => writeMessage(message, one as object);
  if (field.fieldKind === 'list') return (value as readonly unknown[]).map(write);
  if (field.fieldKind === 'message') return write(value);
  return Object.fromEntries(Object.entries(value as object).map(([key, one]) => [key, write(one)]));
}
