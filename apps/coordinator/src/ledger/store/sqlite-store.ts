import { SpareThread, ThreadClient } from '@halogrid/threads';
import { type PackedError, unpackError } from '../../registry/packed-error.ts';
import {
  type Change,
  type Entry,
  type EntryFilter,
  FencedError,
  type Leader,
  type LedgerStore,
} from './ledger-store.ts';

/** What the thread is asked to do; it answers each order, in their order. */
export type SqliteOrder =
  | { kind: 'open'; path: string }
  | { kind: 'acquire'; holder: string; leaseMs: number }
  | { kind: 'renew'; epoch: number; leaseMs: number }
  | { kind: 'release'; epoch: number }
  | { kind: 'leader' }
  | { kind: 'page'; of: EntryFilter; after: Omit<Entry, 'value'> | undefined }
  | { kind: 'write'; epoch: number; changes: Change[] }
  | { kind: 'close' };

/** For the next ledger that is opened. */
export const sqliteThread = new SpareThread(new URL('./sqlite-worker.ts', import.meta.url));

/** The ledger in a file of SQLite, for one machine. A thread of its own waits for the disk. */
export class SqliteStore implements LedgerStore {
  readonly #path: string;
  readonly #thread: ThreadClient<SqliteOrder, unknown>;

  /** Opens the file at `path`, or makes it. Rejects with one sentence that names the file. */
  static async open(path: string): Promise<SqliteStore> {
    const store = new SqliteStore(path);
    try {
      await store.#order({ kind: 'open', path });
      return store;
    } catch (error) {
      await store.#thread.end();
      throw error;
    }
  }

  private constructor(path: string) {
    this.#path = path;
    this.#thread = new ThreadClient(sqliteThread.take(), {
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
    if (this.#thread.hasEnded) return;
    await this.#order({ kind: 'close' });
    // The thread has closed the file, and waits for the next ledger.
    sqliteThread.give(this.#thread.release(this.#closed('its thread has ended')));
  }

  #closed(why: string): Error {
    return new Error(`The ledger '${this.#path}' is closed: ${why}`);
  }

  #order<T>(order: SqliteOrder, moved: ArrayBuffer[] = []): Promise<T> {
    return this.#thread.order(order, moved) as Promise<T>;
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
