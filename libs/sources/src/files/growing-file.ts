import type { FileHandle } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { localVersion } from './local-file.ts';

/** Bytes before the end of a file that are part of its version. */
const tailBytes = 4096;

/**
 * A name for a file as it is now, by which its present content is still known when it has grown: its `localVersion`,
 * and a checksum of its end. A recorder writes on behind that end; another file in its place has other bytes there.
 */
export async function growingVersion(file: FileHandle): Promise<string> {
  const now = await file.stat();
  return `${localVersion(now)} ${await tailOf(file, now.size)}`;
}

/** Bytes of the file when it was of that version. */
export const bytesOfVersion = (version: string): number => Number.parseInt(version, 10);

/** Whether a file has a `localVersion`, or has a `growingVersion`, or has had that one and has only grown since. */
export async function holdsVersion(file: FileHandle, version: string): Promise<boolean> {
  const now = await file.stat();
  const [size, mtimeMs, tail] = version.split(' ');
  const isSame = localVersion(now) === `${size} ${mtimeMs}`;
  if (tail === undefined || isSame) return isSame;
  const before = bytesOfVersion(version);
  return now.size > before && tail === (await tailOf(file, before));
}

async function tailOf(file: FileHandle, sizeBytes: number): Promise<string> {
  const tail = new Uint8Array(Math.min(sizeBytes, tailBytes));
  const { bytesRead } = await file.read(tail, 0, tail.length, sizeBytes - tail.length);
  return crc32(tail.subarray(0, bytesRead)).toString(16);
}
