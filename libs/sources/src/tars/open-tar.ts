import { type OpenBytes, openBytes } from '../files/open-bytes.ts';
import { isRemoteUri } from '../remote/remote-uri.ts';

/**
 * Bytes of a local tar that are read at once: a header, mostly with the extended one before it. A longer piece would
 * read small members twice.
 */
const windowBytes = 2 ** 12;

/** Opens a tar to read its headers. Rejects with InputError. */
export async function openTar(uri: string): Promise<OpenBytes> {
  const bytes = await openBytes(uri);
  return isRemoteUri(uri) ? bytes : windowed(bytes);
}

function windowed(bytes: OpenBytes): OpenBytes {
  let from = 0;
  let window: Buffer = Buffer.alloc(0);
  const read = async (position: number, length: number): Promise<Buffer> => {
    if (length > windowBytes) return await bytes.read(position, length);
    if (position < from || position + length > from + window.length) {
      window = await bytes.read(position, Math.min(windowBytes, bytes.sizeBytes - position));
      from = position;
    }
    return window.subarray(position - from, position - from + length);
  };
  return { ...bytes, read };
}
