import { type FileHandle, open } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import {
  allowedPath,
  BlockReader,
  bytesOfVersion,
  changedInput,
  defaultRemoteLimits,
  growingVersion,
  holdsVersion,
  InputError,
  isRemoteUri,
  RemoteFile,
} from '@halogrid/sources';

/**
 * A video for a process of its own to read, which opens the path itself, or asks this process for ranges. FFmpeg's own
 * HTTP would know none of our limits, hosts, versions and keys; so it opens no connection, and what a damaged file
 * might make of that process has nothing to open one with. To be closed.
 */
export interface VideoFile {
  /**
   * A name for the file as it was opened, which changes when it is written to; on this machine not where it has only
   * grown.
   */
  readonly version: string;
  /** Bytes of that version, and where they are on this machine. */
  readonly access: { path: string; sizeBytes: number } | { sizeBytes: number };
  /**
   * For one without a path: some bytes of those, and none at the end; `isAlone`: nothing near them will be wanted.
   * Rejects with InputError, also for another version.
   */
  read(position: number, length: number, isAlone: boolean): Promise<Uint8Array>;
  /** Rejects with InputError where what was read may be of another version. */
  checkVersion(): Promise<void>;
  /** May be called again. */
  close(): void;
}

/** Kept in memory of a file whose server cannot send parts: each segment would fetch all of a longer one again. */
const limits = { ...defaultRemoteLimits, wholeBytes: defaultRemoteLimits.memoryBytes };

/**
 * Opens a video as it is, or as it was in the `planned` version where this machine has it and it has only grown since:
 * a recorder may still write to it. Rejects with InputError for what cannot be read, or may not be.
 */
export async function openVideoFile(uri: string, planned?: string): Promise<VideoFile> {
  return isRemoteUri(uri) ? await openRemote(uri) : await openLocal(await allowedPath(fileURLToPath(uri)), planned);
}

async function openRemote(uri: string): Promise<VideoFile> {
  const file = await RemoteFile.open(uri, limits);
  const { version, sizeBytes } = file;
  const reader = new BlockReader(file);
  return {
    version,
    access: { sizeBytes },
    read: (position, length, isAlone) => (isAlone ? reader.readAlone(position, length) : reader.read(position, length)),
    // Every answer of the server was of this version.
    checkVersion: async () => {},
    close: () => reader.close(),
  };
}

async function openLocal(path: string, planned: string | undefined): Promise<VideoFile> {
  const holds = (version: string) => reading(path, (file) => holdsVersion(file, version));
  const version = planned !== undefined && (await holds(planned)) ? planned : await reading(path, growingVersion);
  return {
    version,
    access: { path, sizeBytes: bytesOfVersion(version) },
    read: () => Promise.reject(new Error('The process reads the file itself')),
    checkVersion: async () => {
      if (!(await holds(version))) throw changedVideo();
    },
    close: () => {},
  };
}

async function reading<T>(path: string, task: (file: FileHandle) => Promise<T>): Promise<T> {
  try {
    const file = await open(path);
    try {
      return await task(file);
    } finally {
      await file.close();
    }
  } catch (error) {
    throw new InputError('read', `The video cannot be read: ${(error as Error).message}`);
  }
}

export const changedVideo = (): InputError => changedInput('The video has changed since the job was planned');
