import { open } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { allowedPath, forReading, isMemberUri, isRemoteUri, isRowUri, readRemoteHead } from '@halogrid/sources';
import { isImageHead } from '../formats/sniff-format.ts';
import { containerStart, recorderFile, searchedBytes } from './container-start.ts';

const headBytes = 1024;

/**
 * The first box of an MP4 or QuickTime file, after its length; still images in such boxes say so in the next four
 * bytes.
 */
const box = /^[\s\S]{4}(ftyp(?!avi|crx|he|mif1|msf1)|moov|mdat|wide|free|skip|pnot)/;

/** Whether a file that begins with `head` is one of the containers for videos. */
export function isVideoHead(head: Uint8Array): boolean {
  const start = Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, headBytes)).toString('latin1');
  if (box.test(start) || start.startsWith('\x1a\x45\xdf\xa3') || /^RIFF[\s\S]{4}AVI /.test(start)) return true;
  return !isImageHead(head) && (recorderFile(head) !== undefined || containerStart(head) >= 0);
}

/**
 * Whether a file is a video by its content. False for a local file that cannot be read: opening it says why. Rejects
 * with InputError for a file on a server that cannot be fetched.
 */
export async function isVideoFile(uri: string): Promise<boolean> {
  // Recordings in tars and Parquet files are not read.
  if (isMemberUri(uri) || isRowUri(uri)) return false;
  const read = isRemoteUri(uri)
    ? (length: number) => readRemoteHead(uri, length)
    : (length: number) => readLocalHead(uri, length).catch(() => Buffer.alloc(0));
  const head = await read(headBytes);
  if (isVideoHead(head)) return true;
  // A transport stream may begin anywhere, and other bytes may precede it.
  return head.length === headBytes && !isImageHead(head) && isVideoHead(await read(searchedBytes));
}

async function readLocalHead(uri: string, length: number): Promise<Buffer> {
  const file = await open(await allowedPath(fileURLToPath(uri)), forReading);
  try {
    if (!(await file.stat()).isFile()) return Buffer.alloc(0);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
