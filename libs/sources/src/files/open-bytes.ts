import { fstatSync } from 'node:fs';
import { allowedPath } from '../access/allowed-path.ts';
import { InputError } from '../input-error.ts';
import { BlockReader, blockBytes } from '../remote/block-reader.ts';
import { RemoteFile } from '../remote/remote-file.ts';
import { isRemoteUri } from '../remote/remote-uri.ts';
import { localVersion, refuseRead } from './local-file.ts';
import { pathOf } from './local-path.ts';
import { quickFiles } from './quick-files.ts';

/** A file that is open for reading, here or on a server. */
export interface OpenBytes {
  readonly sizeBytes: number;
  /** As Source.version; undefined if a server does not tell. */
  readonly version: string | undefined;
  /** A name for the version, even if it may not change with the content. */
  readonly versionName: string;
  /** Those bytes, which lie in the file. */
  read(position: number, length: number): Promise<Buffer>;
  /** May be called again. */
  close(): Promise<void>;
}

/** Bytes on a server that are fetched on their own, over several connections, and not kept. */
const manyBytes = 16 * blockBytes;

/** Opens a file to read some of its bytes here and there. Rejects with InputError. */
export const openBytes = (uri: string): Promise<OpenBytes> => (isRemoteUri(uri) ? openRemote(uri) : openLocal(uri));

async function openLocal(uri: string): Promise<OpenBytes> {
  const path = await allowedPath(pathOf(uri));
  const file = await Promise.try(() => quickFiles.open(path)).catch(refuseRead);
  let isOpen = true;
  const close = async (): Promise<void> => {
    if (!isOpen) return;
    isOpen = false;
    await quickFiles.close(file);
  };
  // The open file, which may no longer be the one at the path.
  const stat = fstatSync(file);
  if (!stat.isFile()) {
    await close();
    throw new InputError('read', stat.isDirectory() ? 'Not a file: a folder' : 'Not a file');
  }
  const version = localVersion(stat);
  return {
    sizeBytes: stat.size,
    version,
    versionName: version,
    async read(position, length) {
      const bytes = Buffer.allocUnsafe(length);
      for (let done = 0; done < length; ) {
        // One call reads less than 2 GiB.
        const piece = bytes.subarray(done, done + 2 ** 30);
        const read = await Promise.try(() => quickFiles.read(file, piece, position + done)).catch(refuseRead);
        if (read === 0) throw new InputError('read', 'The file has become shorter while it was read');
        done += read;
      }
      return bytes;
    },
    close,
  };
}

/**
 * Bytes near those before come in blocks that are fetched ahead; for bytes that are far from them, or many, a request
 * is made.
 */
async function openRemote(uri: string): Promise<OpenBytes> {
  const file = await RemoteFile.open(uri);
  const reader = new BlockReader(file);
  let last = 0;
  return {
    sizeBytes: file.sizeBytes,
    version: file.hasSureVersion ? file.version : undefined,
    versionName: file.version,
    async read(position, length) {
      const isNear = position - last < 2 * blockBytes && length <= manyBytes;
      last = position;
      const pieces: Uint8Array[] = [];
      for (let done = 0; done < length; ) {
        const [at, left] = [position + done, length - done];
        const piece = isNear ? await reader.read(at, left) : await reader.readAlone(at, left);
        pieces.push(piece);
        done += piece.length;
      }
      return Buffer.concat(pieces);
    },
    close: async () => reader.close(),
  };
}
