import { createFileRegistry, type DescField, type DescMessage, fromBinary } from '@bufbuild/protobuf';
import { type FeatureSet_FieldPresence, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { descriptorSet } from '../gen/descriptor-set.ts';

let registry: ReturnType<typeof createFileRegistry> | undefined;

/** The descriptor of a message of halogrid.v1, with all its comments. */
export function messageOf(name: string): DescMessage {
  registry ??= createFileRegistry(fromBinary(FileDescriptorSetSchema, Buffer.from(descriptorSet, 'base64')));
  const message = registry.getMessage(`halogrid.v1.${name}`);
  if (!message) throw new Error(`There is no message halogrid.v1.${name}`);
  return message;
}

const implicit = 2 satisfies FeatureSet_FieldPresence.IMPLICIT;

/** Whether a field always has a value: its default if it was not set. */
export const hasDefault = (field: DescField): boolean =>
  field.fieldKind === 'list' || field.fieldKind === 'map' || (field.presence === implicit && !field.oneof);
