import { Metadata } from '@grpc/grpc-js';
import { Sentence } from '@halogrid/proto/sentence';

/** Names of metadata: the field that is wrong, and the parts of the sentence as JSON. */
const fieldKey = 'halogrid-field';
const partsKey = 'halogrid-sentence-bin';

/** Clients accept 8 KiB of headers. */
const maxHeaderBytes = 7_000;

/** The metadata of a refusal beside its sentence: the field that is wrong, and where the sentence names fields. */
export function refusalMetadata(sentence: Sentence, field: string): Metadata {
  const metadata = new Metadata();
  metadata.set(fieldKey, field.replaceAll(/[^ -~]/gu, '?'));
  const parts = Buffer.from(JSON.stringify(sentence.parts));
  // The headers also have the sentence itself, and each of its bytes may become three.
  const isShort = encodeURI(String(sentence)).length + (parts.length * 4) / 3 <= maxHeaderBytes;
  if (sentence.field !== undefined && isShort) metadata.set(partsKey, parts);
  return metadata;
}

/** Reads a refusal: its sentence, with the names of the .proto files, and the field that is wrong. */
export function readRefusal(details: string, metadata: Metadata | undefined): { sentence: Sentence; field?: string } {
  const [field] = metadata?.get(fieldKey) ?? [];
  const [text] = metadata?.get(partsKey) ?? [];
  try {
    const parts: string[] = text === undefined ? [details] : JSON.parse(String(text));
    return { sentence: new Sentence(parts), ...(field !== undefined && { field: String(field) }) };
  } catch {
    // The answer is from another program.
    return { sentence: new Sentence([details]) };
  }
}
