// Everything here blocks: a registry runs it in the thread of sqlite-worker.ts.
import { closeSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { makeFoldersSync } from '@halogrid/service/make-folders';
import { isSystemError, whyNotWritten } from '@halogrid/service/system-errors';
import type { JobRow } from './job-row.ts';
import { DamagedLedgerError, LostLedgerError, OlderLedgerError } from './ledger-errors.ts';
import { firstFormat, migrationsFrom, registryFormat } from './migrations.ts';
import { type NetRow, netJobs } from './net-jobs.ts';
import type { JobChange, Leader } from './registry.ts';
import { SameFiles } from './same-files.ts';

/** "HALO": marks files as ledgers of halogrid. */
const applicationId = 0x48414c4f;

/** How long one process waits for another that writes to the same file. */
const busyMs = 10_000;

/** A page ends with the row that reaches either. */
const pageRows = 1000;
const pageCharacters = 2 ** 20;

/**
 * An epoch is at least the time in microseconds, so that a new file in the place of another, or a restored copy, gives
 * higher epochs than any before. So old leases are never taken for new ones, and no two logs have the same name.
 */
const schema = (epoch: number): string => `
  CREATE TABLE jobs (
    job_id TEXT PRIMARY KEY, spec TEXT NOT NULL, spec_sum INTEGER NOT NULL,
    status TEXT NOT NULL, marks TEXT NOT NULL, status_sum INTEGER NOT NULL, leader INTEGER, epoch INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE leader (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    epoch INTEGER NOT NULL, holder TEXT, renewed_ms INTEGER NOT NULL, lease_ms INTEGER NOT NULL
  ) STRICT;
  INSERT INTO leader VALUES (1, ${epoch}, NULL, 0, 0);
  PRAGMA application_id = ${applicationId};
`;

/** A lease that ends later than it was granted means that the clock was set back: it is over too. */
const isOver = 'holder IS NULL OR abs(:now - renewed_ms) >= lease_ms';

/** Gives the jobs of an earlier leader to its successor. */
const takeAll = 'UPDATE jobs SET leader = :epoch, epoch = :epoch WHERE leader IS NOT NULL';

const sets = 'SET status = :status, marks = :marks, status_sum = :statusSum, leader = :leader';
/** The end of a job may be written twice. */
const isOwn = '(leader = :epoch OR leader IS NULL AND :leader IS NULL)';
const begin = `INSERT INTO jobs VALUES (:jobId, :spec, :specSum, :status, :marks, :statusSum, :leader, :epoch)
  ON CONFLICT (job_id) DO UPDATE ${sets} WHERE ${isOwn}`;
const note = `UPDATE jobs ${sets} WHERE job_id = :jobId AND ${isOwn}`;
const remove = 'DELETE FROM jobs WHERE job_id = :jobId AND (leader = :epoch OR leader IS NULL)';

const putHistory = `INSERT INTO histories SELECT job_id, :history FROM jobs
  WHERE job_id = :jobId AND (leader = :epoch OR leader IS NULL)
  ON CONFLICT (job_id) DO UPDATE SET history = excluded.history`;

const wayOut = 'give another file with --ledger, or change the rights of the folder';

/** Codes of SQLite (sqlite.org/rescode.html) with their own sentence; extended codes end in these eight bits. */
const sentences: Record<number, string> = {
  5: `another process has been writing to it for ${busyMs / 1000} s`,
  8: 'this user may not write it',
  13: 'the disk is full',
  14: `it cannot be opened or created there; ${wayOut}`,
  26: 'it is not a ledger of halogrid, or damaged',
};

const codes = { ioError: 10, corrupt: 11, notADatabase: 26 } as const;

/**
 * System failures that leave the file unchanged and may pass: no memory (3082), a used-up quota (778, which all other
 * failures to write share), no room for the shared memory (4874).
 */
const passingIoErrors = [778, 3082, 4874];

/** A registry in one file. Every method throws one sentence that names the file. */
export class SqliteDatabase {
  readonly #path: string;
  readonly #db: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  /** Undefined while it is being opened. */
  #files: SameFiles | undefined;
  /** Why every call fails. */
  #lost: LostLedgerError | undefined;

  /** Opens or creates the file, and the folders it is in. */
  constructor(path: string) {
    this.#path = path;
    let main: SameFiles | undefined;
    this.#db = this.#speak(() => {
      makeFoldersSync(dirname(path));
      createPrivately(path);
      main = new SameFiles([path]);
      return new DatabaseSync(path, { timeout: busyMs });
    });
    try {
      this.#speak(() => this.#prepareFile());
      const files = new SameFiles([path, `${path}-wal`, `${path}-shm`]);
      if (main!.firstChanged()) throw this.#replaced(path);
      this.#files = files;
    } catch (error) {
      this.#db.close();
      throw error;
    }
  }

  acquire(holder: string, leaseMs: number): number | undefined {
    return this.#speak(() => {
      // Without a transaction, a row that does not fit on a full disk would be lost without an error.
      const epoch = this.#transact(() => {
        const row = this.#get(
          `UPDATE leader SET epoch = max(epoch + 1, :epoch), holder = :holder, renewed_ms = :now, lease_ms = :leaseMs
           WHERE ${isOver} RETURNING epoch`,
          { holder, leaseMs, now: Date.now(), epoch: nowMicroseconds() },
        );
        const epoch = row?.epoch as number | undefined;
        if (epoch !== undefined) this.#prepare(takeAll).run({ epoch });
        return epoch;
      });
      this.#checkFiles();
      return epoch;
    });
  }

  renew(epoch: number, leaseMs: number): boolean {
    return this.#speak(() => {
      const row = this.#get(
        `UPDATE leader SET renewed_ms = :now, lease_ms = :leaseMs
         WHERE epoch = :epoch AND holder IS NOT NULL RETURNING epoch`,
        { epoch, leaseMs, now: Date.now() },
      );
      this.#checkFiles();
      return row !== undefined;
    });
  }

  release(epoch: number): void {
    this.#get('UPDATE leader SET holder = NULL WHERE epoch = :epoch RETURNING epoch', { epoch });
  }

  leader(): Leader | undefined {
    const row = this.#get(`SELECT holder, epoch FROM leader WHERE NOT (${isOver})`, { now: Date.now() });
    return row && { holder: row.holder as string, epoch: row.epoch as number };
  }

  /** A page of jobs that follow `after`; empty at the end. */
  page(after: string, ids?: readonly string[]): JobRow[] {
    return this.#speak(() => {
      const among = ids ? 'AND job_id IN (SELECT value FROM json_each(:ids))' : '';
      const rows = this.#prepare(
        `SELECT job_id AS jobId, spec, spec_sum AS specSum, status, marks, status_sum AS statusSum, leader, epoch
         FROM jobs WHERE job_id > :after ${among} ORDER BY job_id LIMIT ${pageRows}`,
      ).iterate({ after, ...(ids && { ids: JSON.stringify(ids) }) });
      const page: JobRow[] = [];
      let characters = 0;
      for (const row of rows) {
        const job = { ...row } as unknown as JobRow;
        page.push(job);
        characters += job.spec.length + job.status.length;
        if (characters >= pageCharacters) break;
      }
      return page;
    });
  }

  /** False, and nothing changed, if the epoch no longer leads, or does not lead one of the jobs. */
  write(epoch: number, changes: readonly JobChange[]): boolean {
    return this.#speak(() => {
      const isMade = this.#transact(() => {
        const leads = this.#get('SELECT 1 FROM leader WHERE epoch = :epoch AND holder IS NOT NULL', { epoch });
        if (!leads) return false;
        const { removed, written } = netJobs(changes);
        return removed.every((jobId) => this.#remove(epoch, jobId)) && written.every((row) => this.#put(epoch, row));
      });
      // Writes to a deleted or replaced file must not be acknowledged.
      this.#checkFiles();
      return isMade;
    });
  }

  /** Stores histories of jobs that this epoch leads, or that nobody leads any more. */
  writeHistories(epoch: number, histories: ReadonlyMap<string, string>): void {
    this.#speak(() => {
      this.#transact(() => {
        const put = this.#prepare(putHistory);
        for (const [jobId, history] of histories) put.run({ epoch, jobId, history });
      });
      this.#checkFiles();
    });
  }

  history(jobId: string): string | undefined {
    return this.#get('SELECT history FROM histories WHERE job_id = :jobId', { jobId })?.history as string | undefined;
  }

  close(): void {
    if (this.#db.isOpen) this.#db.close();
  }

  /** Calls `act` in a transaction; rolls it back if `act` returns false or throws. */
  #transact<T>(act: () => T): T {
    this.#db.exec('BEGIN IMMEDIATE');
    try {
      const result = act();
      this.#db.exec(result === false ? 'ROLLBACK' : 'COMMIT');
      return result;
    } catch (error) {
      if (this.#db.isOpen && this.#db.isTransaction) this.#db.exec('ROLLBACK');
      throw error;
    }
  }

  /** False if another epoch leads the job. */
  #remove(epoch: number, jobId: string): boolean {
    const { changes } = this.#prepare(remove).run({ epoch, jobId });
    return changes > 0 || this.#get('SELECT 1 FROM jobs WHERE job_id = :jobId', { jobId }) === undefined;
  }

  /** False if the epoch does not lead the job. */
  #put(epoch: number, { jobId, spec, specSum, status, marks, statusSum, hasEnded }: NetRow): boolean {
    const row = { epoch, jobId, status, marks, statusSum, leader: hasEnded ? null : epoch };
    const isNew = spec !== undefined;
    const { changes } = isNew
      ? this.#prepare(begin).run({ ...row, spec, specSum: specSum! })
      : this.#prepare(note).run(row);
    return changes > 0;
  }

  #prepareFile(): void {
    // If two processes open a new file, one makes the tables. A foreign file is not changed.
    this.#transact(() => {
      const id = this.#pragma('application_id');
      const version = this.#pragma('user_version');
      const isNew = id === 0 && version === 0 && this.#get('SELECT 1 FROM sqlite_schema LIMIT 1', {}) === undefined;
      if (!isNew && id !== applicationId) throw this.#refusal('it is not a ledger of halogrid');
      if (version > registryFormat) {
        throw this.#refusal(`it is of format ${version} and this halogrid knows formats up to ${registryFormat}`);
      }
      if (!isNew && version < firstFormat)
        throw new OlderLedgerError(`The ledger '${this.#path}'`, version, registryFormat);
      if (isNew) this.#db.exec(schema(nowMicroseconds()));
      for (const { to, sqlite } of migrationsFrom(isNew ? firstFormat : version)) {
        this.#db.exec(`${sqlite}; PRAGMA user_version = ${to}`);
      }
    });
    // WAL: readers do not wait for writers. FULL: what is acknowledged survives a power failure.
    this.#db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cell_size_check = ON');
    // Reads once, so that `-wal` and `-shm` exist.
    this.leader();
  }

  /** Throws if the open file is no longer at its path. */
  #checkFiles(): void {
    const changed = this.#files?.firstChanged();
    if (!changed) return;
    this.#lost = this.#replaced(changed);
    // If only the `-wal` is missing, and no other process has the file open, closing saves its content to the file.
    this.#db.close();
    throw this.#lost;
  }

  #replaced(file: string): LostLedgerError {
    const which = file === this.#path ? '' : ` ('${file}')`;
    return new LostLedgerError(
      `The ledger '${this.#path}' was deleted or replaced while in use${which}; nothing more is written: ` +
        'put it back for its jobs to go on, or start again with what is there now',
    );
  }

  #pragma(name: string): number {
    return Number(Object.values(this.#db.prepare(`PRAGMA ${name}`).get()!)[0]);
  }

  #get(sql: string, parameters: Record<string, string | number>): Record<string, unknown> | undefined {
    return this.#speak(() => this.#prepare(sql).get(parameters));
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (!statement) {
      statement = this.#db.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  #speak<T>(act: () => T): T {
    if (this.#lost) throw this.#lost;
    try {
      return act();
    } catch (error) {
      const { code, errcode = 0, message } = error as NodeJS.ErrnoException & { errcode?: number };
      if (code === undefined) throw error;
      // A file that is no longer at its path may fail in any way.
      this.#checkFiles();
      if (isSystemError(error)) throw this.#refusal(`${whyNotWritten(error)}; ${wayOut}`);
      if (code !== 'ERR_SQLITE_ERROR') throw this.#refusal(message);
      if (this.#isDamage(errcode)) {
        throw new DamagedLedgerError(`'${this.#path}' cannot be read (${message}); a copy of it made earlier will do`);
      }
      throw this.#refusal(sentences[errcode & 0xff] ?? message);
    }
  }

  #isDamage(errcode: number): boolean {
    const code = errcode & 0xff;
    if (code === codes.ioError) return !passingIoErrors.includes(errcode);
    // A file that never was a ledger is not a damaged one.
    return code === codes.corrupt || (code === codes.notADatabase && this.#files !== undefined);
  }

  #refusal(why: string): Error {
    return new Error(`The ledger '${this.#path}' cannot be used: ${why}`);
  }
}

/**
 * Makes a new file that only its owner can read, because specifications may hold presigned URLs. SQLite gives the files
 * beside it the same mode.
 */
function createPrivately(path: string): void {
  try {
    closeSync(openSync(path, 'ax', 0o600));
  } catch {
    // It exists already, or SQLite reports the problem.
  }
}

/** Microseconds since 1970. */
const nowMicroseconds = (): number => Math.floor(1000 * (performance.timeOrigin + performance.now()));
