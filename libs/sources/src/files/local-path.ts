import { fileURLToPath } from 'node:url';
import { redactUri } from '../access/redact-uri.ts';
import { InputError } from '../input-error.ts';

/** The path of a file: URI, which may name a part. Throws InputError if it is not a file of this machine. */
export function pathOf(uri: string): string {
  if (!uri.startsWith('file:')) {
    throw new InputError(
      'read',
      `'${redactUri(uri)}' is not supported: file:, http:, https:, s3:, gs: and az: URIs are`,
    );
  }
  try {
    return fileURLToPath(uri);
  } catch (error) {
    throw new InputError('read', `'${redactUri(uri)}' names no file on this machine: ${(error as Error).message}`);
  }
}
