import type { FileHandle } from 'node:fs/promises';
import { AtomicFile } from './atomic-file.ts';

/** Text is gathered to pieces of this size before it is written, so that a line at a time costs no system call each. */
const pieceChars = 1 << 16;

/**
 * Writes a file that is there whole or not at all, and stays so when the machine stops. The folder must exist. `content`
 * may be produced piece by piece.
 */
export async function writeFileAtomically(
  path: string,
  content: string | Uint8Array | Iterable<string> | AsyncIterable<string>,
): Promise<void> {
  const file = await AtomicFile.create(path);
  try {
    await writeAll(file.handle, content);
  } catch (error) {
    await file.abort();
    throw error;
  }
  await file.commit();
}

async function writeAll(
  file: FileHandle,
  content: string | Uint8Array | Iterable<string> | AsyncIterable<string>,
): Promise<void> {
  if (typeof content === 'string' || content instanceof Uint8Array) return file.writeFile(content);
  let piece = '';
  for await (const text of content) {
    piece += text;
    if (piece.length < pieceChars) continue;
    await file.writeFile(piece);
    piece = '';
  }
  await file.writeFile(piece);
}
