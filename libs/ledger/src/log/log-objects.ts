import { randomUUID } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import { syncFolder } from '@halogrid/results/write-file-atomically';
import { BucketPrefix, defaultRemoteLimits, type ListedObject } from '@halogrid/sources';
import { forEachLimited } from '@halogrid/threads';
import { DamagedLogError } from './log-file.ts';

/** Objects that are read at once. */
const objectsAtOnce = 16;

interface GroupObject extends ListedObject {
  from: number;
  end: number;
}

/*
 * The groups of logs in a bucket. The object LOG/FROM-END-CHECKSUM has the bytes FROM to END of a log, which only the
 * leader with the epoch in its name writes. An append that fails, or whose leader never learns that it succeeded, may
 * leave a group that does not count. The next group in its place has more facts, and so another name: no object ever
 * changes, and a request that arrives late replaces nothing. Read from the registry's mark backwards, only groups that
 * count are found.
 */

const digits = 15;
const namePattern = /\/([0-9]{15})-([0-9]{15})-[0-9a-f]{8}$/;

/** The journal tries again, and does not keep other jobs waiting meanwhile. */
const quickToFail = { ...defaultRemoteLimits, attempts: 2 };

export class LogObjects {
  readonly #prefix: BucketPrefix;
  readonly #written: BucketPrefix;

  /** `uri`: below which the bucket has the logs of a job. */
  constructor(uri: string) {
    this.#prefix = new BucketPrefix(uri);
    this.#written = new BucketPrefix(uri, quickToFail);
  }

  /** Keeps a group of a log. */
  async keep(log: string, from: number, bytes: Uint8Array): Promise<void> {
    await this.#written.put(nameOf(log, from, bytes), bytes);
  }

  /** Makes the file of a log, up to `end`. Rejects with DamagedLogError if a group is missing. */
  async bring(log: string, end: number, path: string): Promise<void> {
    const groups = await this.#upTo(log, end);
    const temporary = `${path}.${randomUUID()}.tmp`;
    try {
      const file = await open(temporary, 'wx', 0o600);
      try {
        await forEachLimited(groups, objectsAtOnce, async ({ name, sizeBytes, from, end }) => {
          let at = from;
          for await (const bytes of this.#prefix.readListed({ name, sizeBytes })) {
            for (let done = 0; done < bytes.length; ) {
              done += (await file.write(bytes, done, bytes.length - done, at + done)).bytesWritten;
            }
            at += bytes.length;
          }
          if (at !== end) throw this.#lost(log, at);
        });
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(temporary, path);
      await syncFolder(dirname(path));
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  }

  /** The groups that lead to `end`, the last one first. */
  async #upTo(log: string, end: number): Promise<GroupObject[]> {
    const byEnd = new Map<number, GroupObject>();
    for await (const listed of this.#prefix.list(`${log}/`)) {
      const [from, end] = namePattern.exec(listed.name)?.slice(1).map(Number) ?? [];
      if (from !== undefined && end !== undefined && from < end) byEnd.set(end, { ...listed, from, end });
    }
    const groups: GroupObject[] = [];
    for (let at = end; at > 0; ) {
      const group = byEnd.get(at);
      if (!group) throw this.#lost(log, at);
      groups.push(group);
      at = group.from;
    }
    return groups;
  }

  #lost(log: string, at: number): DamagedLogError {
    return new DamagedLogError(`The log '${this.#prefix.uriOf(log)}' lacks bytes at ${at}`);
  }
}

function nameOf(log: string, from: number, bytes: Uint8Array): string {
  const [start, end] = [from, from + bytes.length].map((at) => String(at).padStart(digits, '0'));
  return `${log}/${start}-${end}-${crc32(bytes).toString(16).padStart(8, '0')}`;
}
