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
 * A video that another process reads. That process opens the path itself, or asks this process for ranges. FFmpeg's own
 * HTTP would not know our limits, hosts, versions and keys. So FFmpeg opens no connection, and a damaged file that
 * takes over its process cannot open one either. It must be closed.
 */
export interface VideoFile {
  /**
   * A name for the file as it was opened. It changes when the file is written to, except if a local file has only
   * grown.
   */
  readonly version: string;
  /** The size of that version, and its path if it is on this machine. */
  readonly access: { path: string; sizeBytes: number } | { sizeBytes: number };
  /**
   * For a file without a path: reads up to `length` bytes, and none at the end; `isAlone`: nothing near them will be
   * read. Rejects with InputError, also if the file has another version.
   */
  read(position: number, length: number, isAlone: boolean): Promise<Uint8Array>;
  /** Rejects with InputError if bytes that were read may be of another version. */
  checkVersion(): Promise<void>;
  /** May be called again. */
  close(): void;
}

/** A file whose server cannot send parts must fit in memory: each segment would fetch all of a longer file again. */
const limits = { ...defaultRemoteLimits, wholeBytes: defaultRemoteLimits.memoryBytes };

/**
 * Opens a video as it is. A local file that has only grown since the `planned` version is opened as that version: a
 * recorder may still write to it. Rejects with InputError for a file that cannot be read, or is not allowed.
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
