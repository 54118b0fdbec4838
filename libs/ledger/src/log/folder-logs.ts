import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Group, GroupPlace } from './group.ts';
import { type LogDisk, LogWriter, lastGroup, readLog, realDisk } from './log-file.ts';
import type { LogAppender, LogPlace } from './log-place.ts';
import { readLogBytes } from './read-log-bytes.ts';

const namePattern = /^log-(\d+)$/;

/** Whether a file of that name in the folder of a job is a log of it. */
export const isLogName = (name: string): boolean => namePattern.test(name);

/** The logs of a job as files `log-EPOCH` in a folder, which must exist. */
export class FolderLogs implements LogPlace {
  readonly #folder: string;
  readonly #jobId: string;
  readonly #disk: LogDisk;

  /** `disk` does the writing. */
  constructor(folder: string, jobId: string, disk = realDisk) {
    this.#folder = folder;
    this.#jobId = jobId;
    this.#disk = disk;
  }

  async epochs(): Promise<number[]> {
    const names = await readdir(this.#folder);
    const epochs = names.flatMap((name) => namePattern.exec(name)?.slice(1, 2).map(Number) ?? []);
    return epochs.sort((a, b) => a - b);
  }

  begin(epoch: number): Promise<LogAppender> {
    return LogWriter.create(this.file(epoch), this.#name(epoch), this.#disk);
  }

  goOn(epoch: number, last: Pick<GroupPlace, 'end' | 'checkpoint'>): Promise<LogAppender> {
    return LogWriter.goOn(this.file(epoch), this.#name(epoch), last, this.#disk);
  }

  async last(epoch: number, end?: number, torn?: (offset: number) => void): Promise<Group | undefined> {
    return lastGroup(this.file(epoch), this.#name(epoch), end, torn);
  }

  groups(epoch: number, from: number, end: number): AsyncIterable<Group> {
    return readLog(this.file(epoch), this.#name(epoch), { from, end });
  }

  read(epoch: number, offset: number, length: number): Uint8Array {
    return readLogBytes(this.file(epoch), offset, length);
  }

  file(epoch: number): string {
    return join(this.#folder, `log-${epoch}`);
  }

  /**
   * The name of a log. It goes into the checksums of its groups, so that bytes of another log are not taken for groups
   * of this one.
   */
  #name(epoch: number): string {
    return `${this.#jobId} ${epoch}`;
  }
}
