import type { DescField, DescFile, DescMessage } from '@bufbuild/protobuf';

/** Numbers of fields of descriptor.proto, of which the path of a comment is made. */
const [messagesOfFile, fieldsOfMessage] = [4, 2];

const comments = new WeakMap<DescFile, ReadonlyMap<string, string>>();

/** The comment above a message or a field in the .proto files, on one line; empty where there is none. */
export function commentOf(of: DescMessage | DescField): string {
  const { file } = of.kind === 'field' ? of.parent : of;
  const known = comments.get(file) ?? readComments(file);
  comments.set(file, known);
  return known.get(pathOf(of).join()) ?? '';
}

function readComments({ proto }: DescFile): Map<string, string> {
  const locations = proto.sourceCodeInfo?.location ?? [];
  return new Map(
    locations.map(({ path, leadingComments }) => [path.join(), leadingComments.replaceAll(/\s+/g, ' ').trim()]),
  );
}

/** No message here is inside of another one. */
function pathOf(of: DescMessage | DescField): number[] {
  if (of.kind === 'field') return [...pathOf(of.parent), fieldsOfMessage, of.parent.fields.indexOf(of)];
  return [messagesOfFile, of.file.messages.indexOf(of)];
}
