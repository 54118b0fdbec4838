import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { InputError } from '@halogrid/sources/input-error';
import { answerHeadBytes, requestBytes } from '../serve-ranges.ts';
import type { VideoFile } from '../video-file.ts';
import { servedFd } from './video-protocol.ts';

/** The bytes of a video, for the process that decodes it. */
export interface VideoBytes {
  readonly sizeBytes: number;
  /**
   * Reads up to `length` bytes from byte `position` on, at least one; none at the end and behind it. `isAlone`: nothing
   * near them will be read. Throws InputError if they cannot be read.
   */
  read(position: number, length: number, isAlone?: boolean): Buffer;
  close(): void;
}

/**
 * Opens the bytes of a file, with its planned length if `access` states one. Throws InputError if it cannot be opened.
 */
export function openVideoBytes(access: VideoFile['access'] | { path: string }): VideoBytes {
  return wholeBytes('path' in access ? reading(() => fileBytes(access)) : servedBytes(access.sizeBytes));
}

/**
 * Throws InputError for bytes that cannot be read. FFmpeg would take that for the end of the file, or for damage, and
 * single frames would be blamed for a fault of a disk, a network or another program.
 */
export function wholeBytes({ sizeBytes, read, close }: VideoBytes): VideoBytes {
  return {
    sizeBytes,
    close,
    read: (position, length, isAlone) => {
      const bytes = reading(() => read(position, length, isAlone));
      if (bytes.length > 0 || length === 0 || position >= sizeBytes) return bytes;
      throw unreadable(`it ended at byte ${position} of ${sizeBytes} while it was read`);
    },
  };
}

/** Reads `length` bytes, in several reads if need be; fewer only at the end of the file. */
export function bytesAt(read: VideoBytes['read'], position: number, length: number, isAlone = false): Buffer {
  const parts: Buffer[] = [];
  for (let had = 0; had < length; had += parts.at(-1)!.length) {
    const part = read(position + had, length - had, isAlone);
    if (part.length === 0) break;
    parts.push(part);
  }
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
}

const unreadable = (why: string): InputError => new InputError('read', `The video cannot be read: ${why}`);

function reading<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw unreadable((error as Error).message);
  }
}

function fileBytes({ path, sizeBytes: planned }: { path: string; sizeBytes?: number }): VideoBytes {
  const file = openSync(path, 'r');
  const sizeBytes = planned ?? fstatSync(file).size;
  return {
    sizeBytes,
    read: (position, length) => {
      const bytes = Buffer.allocUnsafe(Math.max(0, Math.min(length, sizeBytes - position)));
      return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, position));
    },
    close: () => closeSync(file),
  };
}

function servedBytes(sizeBytes: number): VideoBytes {
  const request = Buffer.alloc(requestBytes);
  const head = Buffer.alloc(answerHeadBytes);
  return {
    sizeBytes,
    read: (position, length, isAlone = false) => {
      request.writeDoubleLE(position, 0);
      request.writeDoubleLE(length, 8);
      request.writeDoubleLE(isAlone ? 1 : 0, 16);
      writeSync(servedFd, request);
      fill(head);
      const bytes = Buffer.alloc(head.readDoubleLE(0));
      fill(bytes);
      return bytes;
    },
    close: () => {},
  };
}

function fill(bytes: Buffer): void {
  for (let done = 0; done < bytes.length; ) {
    const read = readSync(servedFd, bytes, done, bytes.length - done, null);
    // The process that serves the bytes is gone.
    if (read === 0) process.exit(1);
    done += read;
  }
}
