import type { DescField, DescFile, DescMessage } from '@bufbuild/protobuf';

/** Field numbers of descriptor.proto that make up the path of a comment. */
const [messagesOfFile, fieldsOfMessage] = [4, 2];

const comments = new WeakMap<DescFile, ReadonlyMap<string, string>>();

/** The comment above a message or a field in the .proto files, on one line; empty if there is no comment. */
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

/** The path of a comment in descriptor.proto's terms. No message here is nested in another one. */
function pathOf(of: DescMessage | DescField): number[] {
  if (of.kind === 'field') return [...pathOf(of.parent), fieldsOfMessage, of.parent.fields.indexOf(of)];
  return [messagesOfFile, of.file.messages.indexOf(of)];
}
