import { readdir, readFile, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { putFile } from '@halogrid/results/put-file';

/**
 * Sends the part in `folder` to a coordinator, which makes it durable, and removes it here. `url`: that of the part. `last`: the file that
 * completes it. Rejects with one sentence.
 */
export async function sendPart(folder: string, url: string, last: string): Promise<void> {
  try {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    const names = files.map((path) => relative(folder, path)).filter((name) => name !== last);
    for (const name of [...names, last]) await putFile(`${url}/${name}`, await readFile(join(folder, name)), 'part');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
