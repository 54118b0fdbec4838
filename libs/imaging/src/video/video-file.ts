import { stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import {
  allowedPath,
  BlockReader,
  changedInput,
  defaultRemoteLimits,
  InputError,
  isRemoteUri,
  localVersion,
  RemoteFile,
} from '@halogrid/sources';

/**
 * A video for a process of its own to read, which opens the path itself, or asks this process for ranges. FFmpeg's own HTTP
 * would know none of our limits, hosts, versions and keys; so it opens no connection, and what a damaged file might make of
 * that process has nothing to open one with. To be closed.
 */
export interface VideoFile {
  /** A name for the file as it was opened, which changes when it is written to: see `localVersion`, `remoteVersion`. */
  readonly version: string;
  readonly access: { path: string } | { sizeBytes: number };
  /**
   * For one without a path: some bytes of those, and none at the end; `isAlone`: nothing near them will be wanted. Rejects with
   * InputError, also for another version.
   */
  read(position: number, length: number, isAlone: boolean): Promise<Uint8Array>;
  /** Rejects with InputError where what was read may be of another version. */
  checkVersion(): Promise<void>;
  /** May be called again. */
  close(): void;
}

/** Kept in memory of a file whose server cannot send parts: each segment would fetch all of a longer one again. */
const limits = { ...defaultRemoteLimits, wholeBytes: defaultRemoteLimits.memoryBytes };

/** Rejects with InputError for what cannot be read, or may not be. */
export async function openVideoFile(uri: string): Promise<VideoFile> {
  return isRemoteUri(uri) ? await openRemote(uri) : await openLocal(await allowedPath(fileURLToPath(uri)));
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

async function openLocal(path: string): Promise<VideoFile> {
  const version = await versionAt(path);
  return {
    version,
    access: { path },
    read: () => Promise.reject(new Error('The process reads the file itself')),
    checkVersion: async () => {
      if ((await versionAt(path)) !== version) throw changedVideo();
    },
    close: () => {},
  };
}

async function versionAt(path: string): Promise<string> {
  try {
    return localVersion(await stat(path));
  } catch (error) {
    throw new InputError('read', `The video cannot be read: ${(error as Error).message}`);
  }
}

export const changedVideo = (): InputError => changedInput('The video has changed since the job was planned');
