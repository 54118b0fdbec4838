import type { Change, Entry, EntryFilter } from './ledger-store.ts';
import { SqliteDatabase } from './sqlite-database.ts';

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

/** Gives what does the orders of one SqliteStore, one after another, and blocks meanwhile. The first order opens the file. */
export function obeySqliteOrders(): (order: SqliteOrder) => unknown {
  let database: SqliteDatabase | undefined;
  return (order) => {
    if (order.kind === 'open') {
      database = new SqliteDatabase(order.path);
      return undefined;
    }
    const db = database!;
    switch (order.kind) {
      case 'acquire':
        return db.acquire(order.holder, order.leaseMs);
      case 'renew':
        return db.renew(order.epoch, order.leaseMs);
      case 'release':
        return db.release(order.epoch);
      case 'leader':
        return db.leader();
      case 'page':
        return db.page(order.of, order.after);
      case 'write':
        return db.write(order.epoch, order.changes);
      case 'close':
        return db.close();
    }
  };
}
