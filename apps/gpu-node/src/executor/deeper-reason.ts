import type { Source } from '@halogrid/proto';
import { InputError, isRemoteUri, showFile } from '@halogrid/sources';
import { checkStillVersion } from './source-version.ts';

/** A file is read once more up to this; of a longer one both ends. */
const wholeBytes = 2 ** 30;

/**
 * Why bytes look damaged or cut off: perhaps they are being written to, or a decoder that reads the file itself took for its end
 * what the disk could not give. `error` itself where they can all be had and are those that were listed. A server was asked for
 * that version alone with each part, and every failure of it was seen.
 */
export async function deeperReason(source: Source, error: InputError): Promise<InputError> {
  if (isRemoteUri(source.uri)) return error;
  try {
    await checkStillVersion(source);
    const { sizeBytes } = await showFile(source.uri, false);
    if (sizeBytes <= wholeBytes) await showFile(source.uri, true);
    return error;
  } catch (reason) {
    if (reason instanceof InputError) return reason;
    throw reason;
  }
}
