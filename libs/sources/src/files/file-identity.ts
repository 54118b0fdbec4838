import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { allowedPath } from '../access/allowed-path.ts';
import { forReading } from './open-flags.ts';

/**
 * The version of a local file by its content: its SHA-256. Undefined for a file that cannot be read, which is for those to say
 * who open it. The file is read once, at some GB/s.
 */
export async function versionOfContent(uri: string): Promise<string | undefined> {
  try {
    const file = await open(await allowedPath(fileURLToPath(uri)), forReading);
    try {
      if (!(await file.stat()).isFile()) return undefined;
      const digest = createHash('sha256');
      for await (const piece of file.createReadStream({ highWaterMark: 2 ** 20, autoClose: false }))
        digest.update(piece);
      return `sha256 ${digest.digest('hex')}`;
    } finally {
      await file.close();
    }
  } catch {
    return undefined;
  }
}
