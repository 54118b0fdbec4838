import { stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/** A name for the source as it is now, which changes when it is written to. A source that is not there is its URI. */
export async function sourceVersion(uri: string): Promise<string> {
  try {
    const { size, mtimeMs } = await stat(fileURLToPath(uri));
    return `${uri} ${size} ${mtimeMs}`;
  } catch {
    return uri;
  }
}
