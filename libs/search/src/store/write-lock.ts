import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { IndexError } from './index-error.ts';

/**
 * The right to write to an index. It is SQLite's exclusive lock of an empty database. The system gives it back whenever
 * a process ends, so a lock without a holder cannot be left behind. Beside it, writer.json says which process has it.
 */
export class WriteLock {
  readonly #database: DatabaseSync;
  readonly #ownerPath: string;

  /** Takes the lock of the index in that folder, which must exist. Throws IndexError if another process has it. */
  constructor(folder: string) {
    this.#ownerPath = join(folder, 'writer.json');
    this.#database = new DatabaseSync(join(folder, 'lock.sqlite'), { timeout: 0 });
    try {
      this.#database.exec('BEGIN EXCLUSIVE');
    } catch (cause) {
      this.#database.close();
      throw new IndexError(`The index '${folder}' is being written by ${this.#owner()}`, { cause });
    }
    writeFileSync(this.#ownerPath, `${JSON.stringify({ pid: process.pid, host: hostname() })}\n`);
  }

  release(): void {
    rmSync(this.#ownerPath, { force: true });
    this.#database.close();
  }

  #owner(): string {
    try {
      const { pid, host } = JSON.parse(readFileSync(this.#ownerPath, 'utf8'));
      return `process ${pid} of ${host}`;
    } catch {
      return 'another process';
    }
  }
}
