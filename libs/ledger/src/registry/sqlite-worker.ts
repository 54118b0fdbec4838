// Runs in a worker thread: carries out the orders of a SqliteRegistry one after another, and answers each.
import { serveOrders } from '@halogrid/threads';
import { packError } from './packed-error.ts';
import type { JobChange } from './registry.ts';
import { SqliteDatabase } from './sqlite-database.ts';

/** An order of a SqliteRegistry; the first one opens the file. */
export type SqliteOrder =
  | { kind: 'open'; path: string }
  | { kind: 'acquire'; holder: string; leaseMs: number }
  | { kind: 'renew'; epoch: number; leaseMs: number }
  | { kind: 'release'; epoch: number }
  | { kind: 'leader' }
  | { kind: 'page'; after: string; ids: readonly string[] | undefined }
  | { kind: 'write'; epoch: number; changes: readonly JobChange[] }
  | { kind: 'writeHistories'; epoch: number; histories: ReadonlyMap<string, string> }
  | { kind: 'history'; jobId: string }
  | { kind: 'close' };

let database: SqliteDatabase | undefined;

function obey(order: SqliteOrder): unknown {
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
    case 'writeHistories':
      return db.writeHistories(order.epoch, order.histories);
    case 'history':
      return db.history(order.jobId);
    case 'close':
      return db.close();
  }
}

serveOrders(obey, { pack: (error) => packError(error as Error) });
