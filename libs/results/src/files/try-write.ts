import { randomUUID } from 'node:crypto';
import { open, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { allowedPath } from '@halogrid/sources';

/** Less than the results of any job, and more than a full disk has left. */
const triedBytes = 2 ** 16;

/** Tries whether the folder, which must exist, can be written: writes a file and removes it. Rejects with the error. */
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

/** Bytes that this process may still write on the disk of the folder, which must exist. */
export async function freeBytes(folderUri: string): Promise<number> {
  const { bavail, bsize } = await statfs(await allowedPath(fileURLToPath(folderUri)));
  return bavail * bsize;
}
