import { SpareThread, ThreadClient } from '@halogrid/threads';
import {
  type Change,
  type Entry,
  type EntryFilter,
  FencedError,
  type Leader,
  type LedgerStore,
} from './ledger-store.ts';
import type { SqliteOrder } from './obey-sqlite-orders.ts';
import { type PackedError, unpackError } from './packed-error.ts';

/** For the next ledger that is opened. */
export const sqliteThread = new SpareThread(new URL('./sqlite-worker.ts', import.meta.url));

/** The ledger in a file of SQLite, for one machine. A thread of its own waits for the disk. */
export class SqliteStore implements LedgerStore {
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
   * Opens the file at `path`, or makes it. The first `ordersHere` orders are obeyed by this thread, which waits for the disk meanwhile: a job that is
   * done with so few spares the start of a thread, 40 ms of processor time (measured). Rejects with one sentence that names the file.
   */
  static async open(path: string, ordersHere = 0): Promise<SqliteStore> {
    const store = new SqliteStore(path, ordersHere);
    if (ordersHere === 0) await store.#byThread();
    else {
      const { obeySqliteOrders } = await import('./obey-sqlite-orders.ts');
      store.#here = obeySqliteOrders();
      store.#here({ kind: 'open', path });
    }
    return store;
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

  async *entries(of: EntryFilter = {}): AsyncIterable<Entry> {
    let after: Omit<Entry, 'value'> | undefined;
    for (;;) {
      const page: Entry[] = await this.#order({ kind: 'page', of, after });
      if (page.length === 0) return;
      yield* page;
      const { jobId, kind, key } = page.at(-1)!;
      after = { jobId, kind, key };
    }
  }

  async write(epoch: number, changes: readonly Change[]): Promise<void> {
    const { packed, buffer } = pack(changes);
    const isWritten: boolean = await this.#order({ kind: 'write', epoch, changes: packed }, [buffer]);
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

  async #order<T>(order: SqliteOrder, moved: ArrayBuffer[] = []): Promise<T> {
    if (this.#hasClosed) throw this.#closed('it was left');
    if (this.#here) {
      if (this.#ordersHere-- > 0 || order.kind === 'close') return this.#here(order) as T;
      this.#here({ kind: 'close' });
      this.#here = undefined;
    }
    const thread = await this.#byThread();
    return thread.order(order, moved) as Promise<T>;
  }
}

/**
 * The same changes with their values in one buffer, which is then moved to the thread: the caller's own cannot be, because it
 * goes on using them, and views into a large buffer would be sent with all of it.
 */
function pack(changes: readonly Change[]): { packed: Change[]; buffer: ArrayBuffer } {
  const newValue = (change: Change) => (change.kind === undefined ? undefined : change.value);
  const bytes = new Uint8Array(changes.reduce((sum, change) => sum + (newValue(change)?.byteLength ?? 0), 0));
  let at = 0;
  const packed = changes.map((change): Change => {
    const value = newValue(change);
    if (change.kind === undefined || !value) return change;
    bytes.set(value, at);
    at += value.byteLength;
    return { ...change, value: bytes.subarray(at - value.byteLength, at) };
  });
  return { packed, buffer: bytes.buffer };
}
