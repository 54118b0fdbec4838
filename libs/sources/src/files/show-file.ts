import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { allowedPath } from '../access/allowed-path.ts';
import { InputError } from '../input-error.ts';
import { splitMember } from '../member-uri.ts';
import { versionOf } from '../remote/file-version.ts';
import { get } from '../remote/get.ts';
import { defaultRemoteLimits } from '../remote/remote-limits.ts';
import { remoteTarget } from '../remote/remote-target.ts';
import { isRemoteUri } from '../remote/remote-uri.ts';
import { isRowUri } from '../row-uri.ts';
import { versionName } from '../version-name.ts';
import { openInputFile } from './input-file.ts';
import { localVersion, refuseRead } from './local-file.ts';
import { pathOf } from './local-path.ts';
import { forReading } from './quick-files.ts';

/** Facts that tell whether two processes see the same file. */
export interface ShownFile {
  /** As in Source: size and time of change, or what a server tells of it. */
  readonly version: string;
  /** SHA-256 of a local file or member, 32 bytes; empty for a file on a server. */
  readonly sha256: Uint8Array;
  /** 0 if a server does not tell. */
  readonly sizeBytes: number;
}

/** Bytes that are hashed at the beginning of a file and at its end, unless all of it is. */
const endBytes = 2 ** 16;
/** Bytes that are read at once. */
const blockBytes = 2 ** 20;

/**
 * Reads as much of a file at a URI as tells it from another. For a local file that is its
 * first and its last 64 KiB, or with `isWhole` all of it. For a file on a server it is one byte, or all. Rejects with
 * InputError, and as `signal` says.
 */
export async function showFile(uri: string, isWhole: boolean, signal?: AbortSignal): Promise<ShownFile> {
  return isRemoteUri(uri) ? await showRemote(uri, isWhole, signal) : await showLocal(uri, isWhole, signal);
}

async function showLocal(uri: string, isWhole: boolean, signal?: AbortSignal): Promise<ShownFile> {
  const file = await open(await allowedPath(pathOf(uri)), forReading).catch(refuseRead);
  try {
    const stat = await file.stat().catch(refuseRead);
    if (!stat.isFile()) throw new InputError('read', stat.isDirectory() ? 'Not a file: a folder' : 'Not a file');
    const sha256 = createHash('sha256');
    const { start, length } = splitMember(uri).member ?? { start: 0, length: stat.size };
    const end = start + length;
    const headEnd = isWhole || length <= 2 * endBytes ? end : start + endBytes;
    for await (const bytes of blocks(file, start, headEnd, signal)) sha256.update(bytes);
    for await (const bytes of blocks(file, Math.max(headEnd, end - endBytes), end, signal)) sha256.update(bytes);
    return { version: localVersion(stat), sha256: sha256.digest(), sizeBytes: stat.size };
  } finally {
    await file.close();
  }
}

/**
 * The bytes of a file from `start` up to `end`, fewer if it ends before. A block is valid until the next is asked for.
 */
async function* blocks(file: FileHandle, start: number, end: number, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
  const block = new Uint8Array(Math.min(blockBytes, end - start));
  for (let at = start; at < end; ) {
    signal?.throwIfAborted();
    const { bytesRead } = await file.read(block, 0, Math.min(block.length, end - at), at).catch(refuseRead);
    if (bytesRead === 0) return;
    yield block.subarray(0, bytesRead);
    at += bytesRead;
  }
}

async function showRemote(uri: string, isWhole: boolean, signal?: AbortSignal): Promise<ShownFile> {
  const target = remoteTarget(uri);
  // An answer with a part of the file tells the size of all of it; one with all of it need not.
  const version = await get(target, { range: 'bytes=0-0' }, defaultRemoteLimits, async (answer) => versionOf(answer));
  if (isWhole) {
    await get(target, {}, defaultRemoteLimits, async ({ body }) => {
      for await (const _ of body) signal?.throwIfAborted();
    });
  }
  return { version: versionName(version), sha256: new Uint8Array(0), sizeBytes: version.sizeBytes ?? 0 };
}

/**
 * The version of a local file, member or row by its content: its SHA-256. Undefined if it cannot be read: opening
 * it says why. The file is read once, at some GB/s.
 */
export async function versionOfContent(uri: string): Promise<string | undefined> {
  try {
    if (isRowUri(uri)) {
      const image = await (await openInputFile(uri)).readAll();
      return `sha256 ${createHash('sha256').update(image).digest('hex')}`;
    }
    const file = await open(await allowedPath(fileURLToPath(uri)), forReading);
    try {
      if (!(await file.stat()).isFile()) return undefined;
      const digest = createHash('sha256');
      const { start, length } = splitMember(uri).member ?? { start: 0, length: Number.POSITIVE_INFINITY };
      const range = { start, end: start + length - 1 };
      for await (const piece of file.createReadStream({ ...range, highWaterMark: 2 ** 20, autoClose: false }))
        digest.update(piece);
      return `sha256 ${digest.digest('hex')}`;
    } finally {
      await file.close();
    }
  } catch {
    return undefined;
  }
}
