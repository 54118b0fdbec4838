// Runs in a worker thread: does what a SqliteStore orders, one order after another, and answers each.
import { parentPort } from 'node:worker_threads';
import { packError } from './packed-error.ts';
import { SqliteDatabase } from './sqlite-database.ts';
import type { SqliteAnswer, SqliteOrder } from './sqlite-store.ts';

const port = parentPort!;
let database: SqliteDatabase | undefined;

function obey(order: SqliteOrder): Pick<SqliteAnswer, 'result'> & { moved?: ArrayBuffer[] } {
  if (order.kind === 'open') {
    database = new SqliteDatabase(order.path);
    return { result: undefined };
  }
  const db = database!;
  switch (order.kind) {
    case 'acquire':
      return { result: db.acquire(order.holder, order.leaseMs) };
    case 'renew':
      return { result: db.renew(order.epoch, order.leaseMs) };
    case 'release':
      return { result: db.release(order.epoch) };
    case 'leader':
      return { result: db.leader() };
    case 'page': {
      const page = db.page(order.of, order.after);
      return { result: page, moved: page.map(({ value }) => value.buffer as ArrayBuffer) };
    }
    case 'write':
      return { result: db.write(order.epoch, order.changes) };
    case 'close':
      return { result: db.close() };
  }
}

port.on('message', ({ id, order }: { id: number; order: SqliteOrder }) => {
  try {
    const { result, moved = [] } = obey(order);
    port.postMessage({ id, result } satisfies SqliteAnswer, moved);
  } catch (error) {
    port.postMessage({ id, error: packError(error as Error) } satisfies SqliteAnswer);
  }
});
