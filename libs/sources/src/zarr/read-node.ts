import { readIfThere } from '../files/open-if-there.ts';
import { InputError } from '../input-error.ts';
import { below } from './beside.ts';

/** The most bytes of a metadata file: one may hold the metadata of all that is below it. */
const maxMetadataBytes = 2 ** 24;

/** What is at a folder of a Zarr. */
export interface ZarrNode {
  kind: 'array' | 'group';
  /** The URI of the file that says so. */
  file: string;
  metadata: Record<string, unknown>;
  attributes: Record<string, unknown>;
}

/** Reads a node of a Zarr of either format. Rejects with InputError if there is none. */
export async function readNode(folder: string): Promise<ZarrNode> {
  const read = async (name: string): Promise<[string, Record<string, unknown>] | undefined> => {
    const file = below(folder, name);
    const bytes = await readIfThere(file, maxMetadataBytes);
    return bytes && [file, parseMetadata(bytes, name)];
  };
  const newer = await read('zarr.json');
  if (newer) {
    const [file, metadata] = newer;
    const kind = metadata.node_type === 'array' ? 'array' : 'group';
    return { kind, file, metadata, attributes: recordOf(metadata.attributes) };
  }
  const array = await read('.zarray');
  const named = await read('.zattrs');
  const attributes = named?.[1] ?? {};
  if (array) return { kind: 'array', file: array[0], metadata: array[1], attributes };
  const group = named ?? (await read('.zgroup'));
  if (group) return { kind: 'group', file: group[0], metadata: group[1], attributes };
  throw new InputError('decode', 'There is no Zarr: it has no zarr.json, .zarray, .zattrs or .zgroup');
}

/** Throws InputError for bytes that are not the JSON of an object. */
export function parseMetadata(bytes: Uint8Array, name: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString());
  } catch (error) {
    throw new InputError('decode', `${name} of the Zarr is not JSON: ${(error as Error).message.slice(0, 100)}`);
  }
  if (!isRecord(value)) throw new InputError('decode', `${name} of the Zarr is not a JSON object`);
  return value;
}

const isRecord = (value: unknown): value is Record<string, unknown> => value instanceof Object && !Array.isArray(value);
export const recordOf = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {});
