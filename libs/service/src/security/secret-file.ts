import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { UsageError } from '../usage-error.ts';

/** The largest file of secrets in bytes; a token or a key is a few hundred bytes. */
const maxSecretBytes = 2 ** 20;

/**
 * Reads a file of secrets. It checks modes like PostgreSQL does for keys: a file that this user owns must not be open
 * to others; a file of root may be readable by its group, because container platforms mount secrets so. Throws
 * UsageError, which holds none of the text.
 */
export function readSecretFile(option: string, path: string): string {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (error) {
    throw new UsageError(`The file '${path}' (${option}) cannot be read: ${(error as Error).message}`);
  }
  try {
    const stats = fstatSync(file);
    if (!stats.isFile() || stats.size > maxSecretBytes) {
      throw new UsageError(`Expected a file of at most ${maxSecretBytes} bytes for ${option} but '${path}' is not one`);
    }
    const openTo = stats.mode & (stats.uid === 0 && process.getuid?.() !== 0 ? 0o027 : 0o077);
    if (openTo !== 0) {
      const mode = (stats.mode & 0o777).toString(8).padStart(4, '0');
      throw new UsageError(
        `The file '${path}' (${option}) is open to other users (mode ${mode}): 'chmod 600 ${path}' keeps it secret`,
      );
    }
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}
