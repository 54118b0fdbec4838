import { createHash } from 'node:crypto';
import { createReadStream, type Stats } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The version of a local file: another size or time of change, to the microsecond, is another version. */
export function versionOfStats({ size, mtimeMs }: Pick<Stats, 'size' | 'mtimeMs'>): string {
  return `${size} ${mtimeMs}`;
}

/**
 * The version of a local file by its content: its SHA-256. Undefined for a file that cannot be read, which is for those to say
 * who open it. The file is read once, at some GB/s.
 */
export async function versionOfContent(uri: string): Promise<string | undefined> {
  const digest = createHash('sha256');
  try {
    for await (const piece of createReadStream(fileURLToPath(uri), { highWaterMark: 2 ** 20 })) digest.update(piece);
  } catch {
    return undefined;
  }
  return `sha256 ${digest.digest('hex')}`;
}
