import type { Worker } from 'node:worker_threads';
import { SpareThread } from '../../threads/spare-thread.ts';
import {
  type Change,
  type Entry,
  type EntryFilter,
  FencedError,
  type Leader,
  type LedgerStore,
} from './ledger-store.ts';
import { type PackedError, unpackError } from './packed-error.ts';

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

export type SqliteAnswer = { id: number; result?: unknown; error?: PackedError };

/** For the next ledger that is opened. */
export const sqliteThread = new SpareThread(new URL('./sqlite-worker.ts', import.meta.url));

/** The ledger in a file of SQLite, for one machine. A thread of its own waits for the disk. */
export class SqliteStore implements LedgerStore {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  #lastId = 0;
  /** Takes no more orders, and keeps the thread, which has closed the file, for the next ledger. */
  readonly #leave: () => void;
  /** Why no order is taken any more. */
  #ended: Error | undefined;

  /** Opens the file at `path`, or makes it. Rejects with one sentence that names the file. */
  static async open(path: string): Promise<SqliteStore> {
    const store = new SqliteStore(path);
    try {
      await store.#order({ kind: 'open', path });
      return store;
    } catch (error) {
      await store.#worker.terminate();
      throw error;
    }
  }

  private constructor(path: string) {
    this.#worker = sqliteThread.take();
    const onMessage = ({ id, result, error }: SqliteAnswer) => {
      const { resolve, reject } = this.#waiting.get(id)!;
      this.#waiting.delete(id);
      if (error) reject(unpackError(error));
      else resolve(result);
    };
    const end = (why: string) => {
      this.#ended ??= new Error(`The ledger '${path}' is closed: ${why}`);
      for (const { reject } of this.#waiting.values()) reject(this.#ended);
      this.#waiting.clear();
    };
    const onError = (error: Error) => end(error.message);
    const onExit = () => end('its thread has ended');
    this.#worker.on('message', onMessage).on('error', onError).on('exit', onExit);
    this.#leave = () => {
      onExit();
      sqliteThread.give(this.#worker.off('message', onMessage).off('error', onError).off('exit', onExit));
    };
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
    if (this.#ended) return;
    await this.#order({ kind: 'close' });
    this.#leave();
  }

  #order<T>(order: SqliteOrder, moved: ArrayBuffer[] = []): Promise<T> {
    if (this.#ended) return Promise.reject(this.#ended);
    const answer = Promise.withResolvers<unknown>();
    const id = ++this.#lastId;
    this.#waiting.set(id, answer);
    this.#worker.postMessage({ id, order }, moved);
    return answer.promise as Promise<T>;
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
