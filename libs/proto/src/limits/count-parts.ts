import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';

/**
 * The fields of a message that count as parts, by number. `one`: each occurrence is one part. An object: one part, plus
 * the parts inside it.
 */
export interface RepeatedFields {
  readonly [field: number]: RepeatedFields | 'one';
}

/**
 * At most this many parts in a message: an empty part takes two bytes on the wire but a hundred times as many once
 * decoded.
 */
export const maxParts = 200_000;

/**
 * Parts of AttachRequest: the leases of hello and of Brought; an answer's results, errors, both maps of seconds, and
 * findings by pipeline; rankings and hits.
 */
export const reportParts: RepeatedFields = {
  1: { 8: 'one' },
  3: { 5: 'one', 6: 'one', 7: 'one', 9: 'one', 13: { 4: 'one', 6: 'one' } },
  8: { 3: { 1: 'one' } },
  22: { 2: 'one' },
};
/** Parts of Pipeline: operations and their parameters. */
const pipelineParts: RepeatedFields = { 1: { 2: 'one' } };
/** Parts of PipelineSet: pipelines and their parts. */
const pipelineSetParts: RepeatedFields = { 1: { 2: pipelineParts, 3: 'one' } };
/** Parts of SubmitRequest: sources and pipelines. */
export const submitParts: RepeatedFields = { 1: { 1: 'one', 2: pipelineParts, 18: pipelineSetParts, 19: 'one' } };
/** Parts of AttachResponse: leases of Welcome and Kept; pipelines and frames of a lease; queries. */
export const orderParts: RepeatedFields = {
  2: { 3: 'one' },
  4: { 5: pipelineParts, 7: { 1: 'one' }, 18: pipelineSetParts },
  8: { 6: 'one' },
  22: { 2: 'one' },
};

/** Decodes a message. Throws before it takes any memory if the message has more than `most` parts. */
export function decodeBounded<Message>(
  { decode }: { decode: (bytes: Uint8Array) => Message },
  bytes: Uint8Array,
  parts: RepeatedFields,
  most = maxParts,
): Message {
  if (countParts(new BinaryReader(bytes), bytes.length, parts, most) > most) {
    throw new RangeError(`Expected at most ${most} parts of a message but received more`);
  }
  return decode(bytes);
}

/** Counts parts, and stops once there are more than `most`. */
function countParts(reader: BinaryReader, end: number, parts: RepeatedFields, most: number): number {
  let count = 0;
  while (reader.pos < end && count <= most) {
    const [field, type] = reader.tag();
    const inside = type === WireType.LengthDelimited ? parts[field] : undefined;
    if (!inside) reader.skip(type, field);
    else {
      const length = reader.uint32();
      const insideEnd = Math.min(reader.pos + length, end);
      count += 1 + (inside === 'one' ? 0 : countParts(reader, insideEnd, inside, most - count));
      reader.pos = insideEnd;
    }
  }
  return count;
}
