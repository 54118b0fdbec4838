import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';

/** Fields of a message that hold what may be repeated, by number, and those that are it, which are `one` each. */
export interface RepeatedFields {
  readonly [field: number]: RepeatedFields | 'one';
}

/** Parts of a message at most: an empty one takes two bytes on the wire and a hundred times that once it is decoded. */
export const maxParts = 200_000;

/**
 * Parts of AttachRequest: the leases of hello and of a job that moved; results, errors and stages of an answer, twice,
 * and what it found by pipeline; rankings and hits.
 */
export const reportParts: RepeatedFields = {
  1: { 8: 'one' },
  3: { 5: 'one', 6: 'one', 7: 'one', 9: 'one', 13: { 4: 'one', 6: 'one' } },
  8: { 3: { 1: 'one' } },
  22: { 2: 'one' },
};
/** Parts of Pipeline: operations and their parameters. */
const pipelineParts: RepeatedFields = { 1: { 2: 'one' } };
/** Parts of PipelineSet: pipelines, and what they are made of. */
const pipelineSetParts: RepeatedFields = { 1: { 2: pipelineParts, 3: 'one' } };
/** Parts of SubmitRequest: sources and pipelines. */
export const submitParts: RepeatedFields = { 1: { 1: 'one', 2: pipelineParts, 18: pipelineSetParts, 19: 'one' } };
/** Parts of AttachResponse: leases of a welcome, and that go on; pipelines and sources of a lease; queries. */
export const orderParts: RepeatedFields = {
  2: { 3: 'one' },
  4: { 5: pipelineParts, 7: { 1: 'one' }, 18: pipelineSetParts },
  8: { 6: 'one' },
  22: { 2: 'one' },
};

/**
 * Decodes a message that has `most` parts at most; throws one sentence for one that has more, before it takes any
 * memory.
 */
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

/** Counts until there are more than `most`. */
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
