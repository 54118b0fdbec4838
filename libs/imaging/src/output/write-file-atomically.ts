import { randomUUID } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Text is gathered to pieces of this size before it is written, so that a line at a time costs no system call each. */
const pieceChars = 1 << 16;

/**
 * Writes a file that is there whole or not at all, and stays so when the machine stops: under a temporary name in the same
 * folder, synced, then renamed over what was there. The folder must exist. `content` may be produced piece by piece.
 */
export async function writeFileAtomically(
  path: string,
  content: string | Uint8Array | Iterable<string>,
): Promise<void> {
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    const file = await open(temporary, 'wx');
    try {
      await writeAll(file, content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
}

async function writeAll(file: FileHandle, content: string | Uint8Array | Iterable<string>): Promise<void> {
  if (typeof content === 'string' || content instanceof Uint8Array) return file.writeFile(content);
  let piece = '';
  for (const text of content) {
    piece += text;
    if (piece.length < pieceChars) continue;
    await file.writeFile(piece);
    piece = '';
  }
  await file.writeFile(piece);
}

/** Makes the new name itself durable. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
