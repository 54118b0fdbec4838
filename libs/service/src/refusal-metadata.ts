import { Metadata } from '@grpc/grpc-js';
import { Sentence } from '@halogrid/proto/sentence';

/** Names of metadata: the field that is wrong, and the parts of the sentence, as JSON. */
const fieldKey = 'halogrid-field';
const partsKey = 'halogrid-sentence-bin';

/** Clients take 8 KiB of headers. */
const maxHeaderBytes = 7_000;

/** What a status says beside its sentence: which field is wrong, and where the sentence names fields. */
export function refusalMetadata(sentence: Sentence, field: string): Metadata {
  const metadata = new Metadata();
  metadata.set(fieldKey, field.replaceAll(/[^ -~]/gu, '?'));
  const parts = Buffer.from(JSON.stringify(sentence.parts));
  // The sentence itself is there, too, and each of its bytes may become three.
  const isShort = encodeURI(String(sentence)).length + (parts.length * 4) / 3 <= maxHeaderBytes;
  if (sentence.field !== undefined && isShort) metadata.set(partsKey, parts);
  return metadata;
}

/** What a status says: its sentence, by the names of the .proto files, and the field that is wrong. */
export function readRefusal(details: string, metadata: Metadata | undefined): { sentence: Sentence; field?: string } {
  const [field] = metadata?.get(fieldKey) ?? [];
  const [text] = metadata?.get(partsKey) ?? [];
  try {
    const parts: string[] = text === undefined ? [details] : JSON.parse(String(text));
    return { sentence: new Sentence(parts), ...(field !== undefined && { field: String(field) }) };
  } catch {
    // Another program answers.
    return { sentence: new Sentence([details]) };
  }
}
