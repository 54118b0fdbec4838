import { allowedPath } from '../access/allowed-path.ts';
import { pathOf } from '../files/input-file.ts';
import { localVersion, refuseRead } from '../files/local-file.ts';
import { quickFiles } from '../files/quick-files.ts';
import { InputError } from '../input-error.ts';
import { BlockReader, blockBytes as remoteBlockBytes } from '../remote/block-reader.ts';
import { RemoteFile } from '../remote/remote-file.ts';
import { isRemoteUri } from '../remote/remote-uri.ts';
import type { TarBytes } from './tar-entries.ts';

export interface OpenTar extends TarBytes {
  /** As Source.version; undefined if a server does not tell. */
  readonly version: string | undefined;
  close(): Promise<void>;
}

/**
 * Bytes of a local tar that are read at once: a header, mostly with the extended one before it. A longer piece would
 * read small members twice.
 */
const windowBytes = 2 ** 12;

/** Opens a tar to read its headers. Rejects with InputError. */
export const openTar = (uri: string): Promise<OpenTar> => (isRemoteUri(uri) ? openRemote(uri) : openLocal(uri));

async function openLocal(uri: string): Promise<OpenTar> {
  const path = await allowedPath(pathOf(uri));
  const file = await Promise.try(() => quickFiles.open(path)).catch(refuseRead);
  const stat = await Promise.try(() => quickFiles.stat(path)).catch(refuseRead);
  const window = Buffer.allocUnsafe(windowBytes);
  let [from, held] = [0, 0];
  const fill = async (into: Buffer, position: number): Promise<number> => {
    let done = 0;
    while (done < into.length) {
      const read = await Promise.try(() => quickFiles.read(file, into.subarray(done), position + done)).catch(
        refuseRead,
      );
      if (read === 0) break;
      done += read;
    }
    return done;
  };
  return {
    sizeBytes: stat.size,
    version: localVersion(stat),
    async read(position, length) {
      if (length > windowBytes) {
        const bytes = Buffer.alloc(length);
        if ((await fill(bytes, position)) < length) throw shorter();
        return bytes;
      }
      if (position < from || position + length > from + held) {
        from = position;
        held = await fill(window, position);
        if (held < length) throw shorter();
      }
      return window.subarray(position - from, position - from + length);
    },
    close: async () => quickFiles.close(file),
  };
}

const shorter = (): InputError => new InputError('read', 'The tar has become shorter while it was listed');

/**
 * Small members are read with the headers, in blocks that are fetched ahead; behind large ones, a request is made for
 * each header.
 */
async function openRemote(uri: string): Promise<OpenTar> {
  const file = await RemoteFile.open(uri);
  const reader = new BlockReader(file);
  let last = 0;
  return {
    sizeBytes: file.sizeBytes,
    version: file.hasSureVersion ? file.version : undefined,
    async read(position, length) {
      const isNear = position - last < 2 * remoteBlockBytes;
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
