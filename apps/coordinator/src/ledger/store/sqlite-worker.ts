// Runs in a worker thread: does what a SqliteStore orders, one order after another, and answers each.
import { serveOrders } from '@halogrid/threads';
import { packError } from '../../registry/packed-error.ts';
import type { Entry } from './ledger-store.ts';
import { SqliteDatabase } from './sqlite-database.ts';
import type { SqliteOrder } from './sqlite-store.ts';

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
      return db.page(order.of, order.after);
    case 'write':
      return db.write(order.epoch, order.changes);
    case 'close':
      return db.close();
  }
}

serveOrders(obey, {
  // Only pages are lists.
  moved: (answer) => (Array.isArray(answer) ? answer.map(({ value }: Entry) => value.buffer as ArrayBuffer) : []),
  pack: (error) => packError(error as Error),
});
