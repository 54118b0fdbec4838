import { type ArrayForm, InputError } from '@halogrid/sources';
import type * as Zarrita from 'zarrita';
import type { Pixels } from '../../planes/plane-target.ts';
import { boundedCodecs } from './bounded-codecs.ts';

/** The samples of a chunk: sample (i, j, …) is at i * stride[0] + j * stride[1] + …. */
export interface DecodedChunk {
  data: Pixels;
  stride: readonly number[];
}

/** Decodes the bytes of a chunk. Rejects with InputError. */
export type DecodeChunk = (bytes: Uint8Array, chunk: string) => Promise<DecodedChunk>;

let loaded: Promise<typeof Zarrita> | undefined;

/** Loads zarrita when the first Zarr needs it, with codecs that are bounded. */
function loadZarrita(): Promise<typeof Zarrita> {
  loaded ??= import('zarrita').then((zarrita) => {
    const registry = zarrita.registry as Map<string, () => unknown>;
    for (const [name, codec] of Object.entries(boundedCodecs)) {
      registry.set(name, () => codec);
      registry.set(`numcodecs.${name}`, () => codec);
    }
    return zarrita;
  });
  return loaded;
}

/**
 * A decoder of an array's chunks, or of the chunks in its shards. zarrita reads the metadata and knows the order of
 * codecs and of samples; this project reads all bytes itself.
 */
export async function chunkDecoder(form: ArrayForm, metadata: Record<string, unknown>): Promise<DecodeChunk> {
  const zarrita = await loadZarrita();
  const json = Buffer.from(JSON.stringify(form.shard ? ofInnerChunks(form, metadata) : metadata));
  // The bytes of a chunk come with the call.
  const store = { get: async (_key: string, call?: { bytes?: Uint8Array }) => call?.bytes ?? json };
  const location = zarrita.root(store as Zarrita.AsyncReadable);
  const how = { kind: 'array', attrs: false } as const;
  const array = await (form.format === 2 ? zarrita.open.v2(location, how) : zarrita.open.v3(location, how));
  const origin = form.shape.map(() => 0);
  const samples = form.chunk.reduce((all, size) => all * size, 1);
  return async (bytes, chunk) => {
    const decoded = await array.getChunk(origin, { bytes } as object).catch((error: Error) => {
      const { cause } = error;
      const why = cause instanceof Error ? cause.message : 'its bytes make no sense';
      throw new InputError('decode', `The chunk '${chunk}' is damaged: ${why.slice(0, 200)}`);
    });
    const { data, stride } = decoded as { data: Pixels; stride: number[] };
    if (data.length === samples) return { data, stride };
    throw new InputError('decode', `The chunk '${chunk}' is damaged: it has ${data.length} samples, not ${samples}`);
  };
}

/** The metadata as if the chunks in the shards were files of their own. */
function ofInnerChunks({ chunk }: ArrayForm, metadata: Record<string, unknown>): Record<string, unknown> {
  const [sharding] = metadata.codecs as [{ configuration: { codecs: unknown } }];
  const { codecs } = sharding.configuration;
  return { ...metadata, codecs, chunk_grid: { name: 'regular', configuration: { chunk_shape: chunk } } };
}
