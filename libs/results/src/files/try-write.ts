import { randomUUID } from 'node:crypto';
import { open, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { allowedPath } from '@halogrid/sources';

/** Less than any job's results, and more than is left of a disk that is quite full. */
const triedBytes = 2 ** 16;

/** Writes a file into the folder of that URI, which must be there, and removes it. Rejects with what was wrong. */
export async function tryWrite(folderUri: string): Promise<void> {
  const folder = await allowedPath(fileURLToPath(folderUri));
  const path = join(folder, `${randomUUID()}.tmp`);
  try {
    const file = await open(path, 'wx');
    try {
      await file.writeFile(new Uint8Array(triedBytes));
      await file.datasync();
    } finally {
      await file.close();
    }
  } finally {
    await rm(path, { force: true });
  }
}

/** Bytes that are left for this process on the disk of the folder of that URI, which is there. */
export async function freeBytes(folderUri: string): Promise<number> {
  const { bavail, bsize } = await statfs(await allowedPath(fileURLToPath(folderUri)));
  return bavail * bsize;
}
