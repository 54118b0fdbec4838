import type { JobChange } from './registry.ts';
import { SqliteDatabase } from './sqlite-database.ts';

/** What a SqliteRegistry has done to its file; each order is answered, in their order. */
export type SqliteOrder =
  | { kind: 'open'; path: string }
  | { kind: 'acquire'; holder: string; leaseMs: number }
  | { kind: 'renew'; epoch: number; leaseMs: number }
  | { kind: 'release'; epoch: number }
  | { kind: 'leader' }
  | { kind: 'page'; after: string; ids: readonly string[] | undefined }
  | { kind: 'write'; epoch: number; changes: readonly JobChange[] }
  | { kind: 'close' };

/**
 * Gives what does the orders of one SqliteRegistry, one after another, and blocks meanwhile. The first order opens the
 * file.
 */
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
        return db.page(order.after, order.ids);
      case 'write':
        return db.write(order.epoch, order.changes);
      case 'close':
        return db.close();
    }
  };
}
