import type { AsyncBuffer } from 'hyparquet';
import { placeAt } from '../places/place-at.ts';

/** The file at a path or s3: URI, for the reader of Parquet. Rejects if it is missing. */
export async function asyncBufferAt(at: string): Promise<AsyncBuffer> {
  const file = await placeAt(at).file();
  if (!file) throw new Error('it is not there');
  return {
    byteLength: file.sizeBytes,
    async slice(start, end = file.sizeBytes) {
      const bytes = await file.read(start, end);
      // Small buffers share memory.
      return bytes.length === bytes.buffer.byteLength ? bytes.buffer : Uint8Array.from(bytes).buffer;
    },
  };
}
