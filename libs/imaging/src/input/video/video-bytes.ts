import { fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { answerHeadBytes, requestBytes } from './serve-ranges.ts';
import type { VideoFile } from './video-file.ts';

/** The bytes of a video, for the process that decodes it. */
export interface VideoBytes {
  /** Where FFmpeg is to open it itself. */
  readonly path?: string;
  readonly sizeBytes: number;
  /** Some of so many bytes from byte `position` on; none at the end. */
  read(position: number, length: number): Buffer;
}

/** Where the process that knows how to fetch it listens; a socket, which waits. */
export const servedFd = 3;

export function openVideoBytes(access: VideoFile['access']): VideoBytes {
  return 'path' in access ? fileBytes(access.path) : servedBytes(access.sizeBytes);
}

/** The file stays open as long as this process lives, which reads no other. */
function fileBytes(path: string): VideoBytes {
  const file = openSync(path, 'r');
  return {
    path,
    sizeBytes: fstatSync(file).size,
    read: (position, length) => {
      const bytes = Buffer.alloc(length);
      return bytes.subarray(0, readSync(file, bytes, 0, length, position));
    },
  };
}

function servedBytes(sizeBytes: number): VideoBytes {
  const request = Buffer.alloc(requestBytes);
  const head = Buffer.alloc(answerHeadBytes);
  return {
    sizeBytes,
    read: (position, length) => {
      request.writeDoubleLE(position, 0);
      request.writeDoubleLE(length, 8);
      writeSync(servedFd, request);
      fill(head);
      const bytes = Buffer.alloc(head.readDoubleLE(0));
      fill(bytes);
      return bytes;
    },
  };
}

function fill(bytes: Buffer): void {
  for (let done = 0; done < bytes.length; ) {
    const read = readSync(servedFd, bytes, done, bytes.length - done, null);
    // Nobody is there any more who would want to know.
    if (read === 0) process.exit(1);
    done += read;
  }
}
