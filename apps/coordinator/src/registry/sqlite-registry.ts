import { SpareThread, ThreadClient } from '@halogrid/threads';
import { type JobRow, readRow } from './job-row.ts';
import type { SqliteOrder } from './obey-sqlite-orders.ts';
import { type PackedError, unpackError } from './packed-error.ts';
import { FencedError, type JobChange, type Leader, type RegisteredJob, type Registry } from './registry.ts';

/** For the next ledger that is opened. */
export const sqliteThread = new SpareThread(new URL('./sqlite-worker.ts', import.meta.url));

/** The registry in a file of SQLite, for one machine. A thread of its own waits for the disk. */
export class SqliteRegistry implements Registry {
  readonly #path: string;
  /** Where orders are obeyed here, does so. */
  #here: ((order: SqliteOrder) => unknown) | undefined;
  /** Orders that are still obeyed here. */
  #ordersHere: number;
  #thread: ThreadClient<SqliteOrder, unknown> | undefined;
  /** Resolves when the thread has the file. Undefined where it is still to be opened, or could not be: what was in the way may be gone. */
  #opened: Promise<unknown> | undefined;
  #hasClosed = false;

  /**
   * Opens the file at `path`, or makes it. The first `ordersHere` orders are obeyed by this thread, which waits for the
   * disk meanwhile: a job that is done with so few spares the start of a thread, 40 ms of processor time (measured).
   * Rejects with one sentence that names the file.
   */
  static async open(path: string, ordersHere = 0): Promise<SqliteRegistry> {
    const registry = new SqliteRegistry(path, ordersHere);
    if (ordersHere === 0) await registry.#byThread();
    else {
      const { obeySqliteOrders } = await import('./obey-sqlite-orders.ts');
      registry.#here = obeySqliteOrders();
      registry.#here({ kind: 'open', path });
    }
    return registry;
  }

  private constructor(path: string, ordersHere: number) {
    this.#path = path;
    this.#ordersHere = ordersHere;
  }

  /** Resolves with the thread, which has the file. */
  async #byThread(): Promise<ThreadClient<SqliteOrder, unknown>> {
    this.#opened ??= this.#openByThread();
    await this.#opened;
    return this.#thread!;
  }

  #openByThread(): Promise<unknown> {
    const thread = new ThreadClient<SqliteOrder, unknown>(sqliteThread.take(), {
      ended: (end) => this.#closed('error' in end ? end.error.message : 'its thread has ended'),
      unpack: (failure) => unpackError(failure as PackedError),
    });
    this.#thread = thread;
    return thread.order({ kind: 'open', path: this.#path }).catch(async (error) => {
      await thread.end();
      this.#opened = undefined;
      throw error;
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
    // An order is sent at the end of the turn.
    const copies = changes.map((change) => ('marks' in change ? { ...change, marks: [...change.marks] } : change));
    const isWritten: boolean = await this.#order({ kind: 'write', epoch, changes: copies });
    if (!isWritten) throw new FencedError(epoch, await this.leader());
  }

  async close(): Promise<void> {
    if (this.#hasClosed || this.#thread?.hasEnded) return;
    await this.#order({ kind: 'close' });
    this.#hasClosed = true;
    // The thread has closed the file, and waits for the next ledger.
    if (this.#thread) sqliteThread.give(this.#thread.release(this.#closed('its thread has ended')));
  }

  #closed(why: string): Error {
    return new Error(`The ledger '${this.#path}' is closed: ${why}`);
  }

  async #order<T>(order: SqliteOrder): Promise<T> {
    if (this.#hasClosed) throw this.#closed('it was left');
    if (this.#here) {
      if (this.#ordersHere-- > 0 || order.kind === 'close') return this.#here(order) as T;
      this.#here({ kind: 'close' });
      this.#here = undefined;
    }
    const thread = await this.#byThread();
    return thread.order(order) as Promise<T>;
  }
}
