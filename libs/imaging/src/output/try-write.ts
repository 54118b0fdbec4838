import { randomUUID } from 'node:crypto';
import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { allowedPath } from '../access/allowed-path.ts';

/** Enough to tell a full disk from one that has room. */
const triedBytes = 2 ** 20;

/** Writes a file into the folder of that URI, which need not be there yet, and removes it. Rejects with what was wrong. */
export async function tryWrite(folderUri: string): Promise<void> {
  const folder = await allowedPath(fileURLToPath(folderUri));
  await mkdir(folder, { recursive: true });
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
