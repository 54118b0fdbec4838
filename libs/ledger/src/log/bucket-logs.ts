import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { FolderLogs } from './folder-logs.ts';
import type { Group } from './group.ts';
import { type LogDisk, realDisk, type WrittenFile } from './log-file.ts';
import { LogObjects } from './log-objects.ts';

/**
 * The logs of a job in a folder of this machine, and each of their groups in a bucket. So a coordinator on another
 * machine can bring the logs of an earlier leader to its own folder.
 */
export class BucketLogs extends FolderLogs {
  readonly #objects: LogObjects;

  /** `objects`: the URI below which the bucket has the groups. The folder must exist. */
  constructor(folder: string, jobId: string, objects: string, disk = realDisk) {
    const groups = new LogObjects(objects);
    super(folder, jobId, copyingDisk(disk, groups));
    this.#objects = groups;
  }

  /** Brings a log that counts up to `end` and is not here, or not as far. Logs are always asked for by this first. */
  override async last(epoch: number, end?: number, torn?: (offset: number) => void): Promise<Group | undefined> {
    const path = this.file(epoch);
    if (end && (await lengthOf(path)) < end) await this.#objects.bring(basename(path), end, path);
    return super.last(epoch, end, torn);
  }
}

async function lengthOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    (error: NodeJS.ErrnoException) => (error.code === 'ENOENT' ? 0 : Promise.reject(error)),
  );
}

/** A disk on which bytes are durable once an object has them, too. Each sync ends a group. */
function copyingDisk(disk: LogDisk, objects: LogObjects): LogDisk {
  return {
    ...disk,
    async open(path, flags) {
      return new CopiedFile(await disk.open(path, flags), (at, bytes) => objects.keep(basename(path), at, bytes));
    },
  };
}

class CopiedFile implements WrittenFile {
  readonly #file: WrittenFile;
  readonly #keep: (at: number, bytes: Uint8Array) => Promise<void>;
  /** Bytes that were written since the last sync that succeeded, and where they begin. */
  #written: Uint8Array[] = [];
  #from = 0;
  #end = 0;

  constructor(file: WrittenFile, keep: (at: number, bytes: Uint8Array) => Promise<void>) {
    this.#file = file;
    this.#keep = keep;
  }

  async writev(pieces: readonly Uint8Array[], at: number): Promise<{ bytesWritten: number }> {
    // After a failure the next group takes the place of the last one.
    if (at !== this.#end || this.#written.length === 0) {
      this.#written = [];
      this.#from = at;
    }
    const { bytesWritten } = await this.#file.writev(pieces, at);
    let left = bytesWritten;
    for (const piece of pieces) {
      if (left === 0) break;
      this.#written.push(piece.subarray(0, left));
      left -= Math.min(left, piece.length);
    }
    this.#end = at + bytesWritten;
    return { bytesWritten };
  }

  async datasync(): Promise<void> {
    await Promise.all([this.#file.datasync(), this.#keep(this.#from, Buffer.concat(this.#written))]);
    this.#written = [];
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}
