import { open } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { allowedPath, forReading, isRemoteUri, readRemoteHead } from '@halogrid/sources';

const headBytes = 1024;

/** The first box of an MP4 or QuickTime file, after its length; still images in such boxes say so in the next four bytes. */
const box = /^[\s\S]{4}(ftyp(?!avi|crx|he|mif1|msf1)|moov|mdat|wide|free|skip|pnot)/;

/** Whether a file that begins with `head` is of a container that videos come in. */
export function isVideoHead(head: Uint8Array): boolean {
  const start = Buffer.from(head.buffer, head.byteOffset, head.length).toString('latin1');
  if (box.test(start) || start.startsWith('\x1a\x45\xdf\xa3') || /^RIFF[\s\S]{4}AVI /.test(start)) return true;
  // Packets of a transport stream, each with a sync byte; on Blu-ray and in cameras after a time code of four bytes.
  return [
    [0, 188],
    [4, 192],
  ].some(([first, bytes]) => [0, 1, 2, 3].every((i) => start[first! + i * bytes!] === 'G'));
}

/**
 * Whether a file is a video by its content; false for one here that cannot be read, which opening it says for less. Rejects with
 * InputError for one on a server that cannot be had.
 */
export async function isVideoFile(uri: string): Promise<boolean> {
  if (isRemoteUri(uri)) return isVideoHead(await readRemoteHead(uri, headBytes));
  return isVideoHead(await readLocalHead(uri).catch(() => Buffer.alloc(0)));
}

async function readLocalHead(uri: string): Promise<Buffer> {
  const file = await open(await allowedPath(fileURLToPath(uri)), forReading);
  try {
    if (!(await file.stat()).isFile()) return Buffer.alloc(0);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(headBytes), 0, headBytes, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
