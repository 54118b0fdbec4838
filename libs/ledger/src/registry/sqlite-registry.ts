import { SpareThread, ThreadClient } from '@halogrid/threads';
import { type JobRow, readRow } from './job-row.ts';
import { type PackedError, unpackError } from './packed-error.ts';
import { FencedError, type JobChange, type Leader, type RegisteredJob, type Registry } from './registry.ts';
import type { SqliteOrder } from './sqlite-worker.ts';

/** A spare thread for the next registry. */
const spareThread = new SpareThread(new URL('./sqlite-worker.ts', import.meta.url));

/** The registry in a SQLite file, for one machine. A separate thread does everything that blocks. */
export class SqliteRegistry implements Registry {
  readonly #path: string;
  readonly #thread: ThreadClient<SqliteOrder, unknown>;
  #hasClosed = false;

  /** Opens the file at `path`, or makes it. Rejects with one sentence that names the file. */
  static async open(path: string): Promise<SqliteRegistry> {
    const registry = new SqliteRegistry(path);
    try {
      await registry.#order({ kind: 'open', path });
      return registry;
    } catch (error) {
      await registry.#thread.end();
      throw error;
    }
  }

  private constructor(path: string) {
    this.#path = path;
    this.#thread = new ThreadClient<SqliteOrder, unknown>(spareThread.take(), {
      ended: (end) => this.#closed('error' in end ? end.error.message : 'its thread has ended'),
      unpack: (failure) => unpackError(failure as PackedError),
    });
  }

  acquire(holder: string, leaseMs: number): Promise<number | undefined> {
    return this.#order({ kind: 'acquire', holder, leaseMs });
  }

  renew(epoch: number, leaseMs: number): Promise<boolean> {
    return this.#order({ kind: 'renew', epoch, leaseMs });
  }

  release(epoch: number): Promise<void> {
    return this.#order({ kind: 'release', epoch });
  }

  leader(): Promise<Leader | undefined> {
    return this.#order({ kind: 'leader' });
  }

  async *jobs(ids?: readonly string[]): AsyncIterable<RegisteredJob> {
    let after = '';
    for (;;) {
      const page: JobRow[] = await this.#order({ kind: 'page', after, ids });
      if (page.length === 0) return;
      for (const row of page) yield readRow(row);
      after = page.at(-1)!.jobId;
    }
  }

  async write(epoch: number, changes: readonly JobChange[]): Promise<void> {
    // Copied, because an order is sent only at the end of the turn.
    const copies = changes.map((change) => ('marks' in change ? { ...change, marks: [...change.marks] } : change));
    const isWritten: boolean = await this.#order({ kind: 'write', epoch, changes: copies });
    if (!isWritten) throw new FencedError(epoch, await this.leader());
  }

  writeHistories(epoch: number, histories: ReadonlyMap<string, string>): Promise<void> {
    return this.#order({ kind: 'writeHistories', epoch, histories: new Map(histories) });
  }

  history(jobId: string): Promise<string | undefined> {
    return this.#order({ kind: 'history', jobId });
  }

  async close(): Promise<void> {
    if (this.#hasClosed || this.#thread.hasEnded) return;
    await this.#order({ kind: 'close' });
    this.#hasClosed = true;
    // The thread has closed the file, and waits for the next registry.
    spareThread.give(this.#thread.release(this.#closed('its thread has ended')));
  }

  #closed(why: string): Error {
    return new Error(`The ledger '${this.#path}' is closed: ${why}`);
  }

  async #order<T>(order: SqliteOrder): Promise<T> {
    if (this.#hasClosed) throw this.#closed('it was left');
    return this.#thread.order(order) as Promise<T>;
  }
}
