// Runs in a worker thread: packs shards, and writes them as parts of their jobs, as a PartThread orders it.
import { packSystemError, serveOrders } from '@halogrid/threads';
import { summariseShard } from './found-shard.ts';
import { PartBuffer } from './part-buffer.ts';
import type { PartAnswer, PartOrder } from './part-order.ts';

/** By the folder of the parts. */
const buffers = new Map<string, PartBuffer>();

async function obey(order: PartOrder): Promise<PartAnswer> {
  if (order.kind === 'summarise') return summariseShard(order.shard, order.shapes);
  if (order.kind === 'add') {
    const { task, shard, share } = order;
    const buffer = buffers.get(task.folder) ?? new PartBuffer(task);
    buffers.set(task.folder, buffer);
    return buffer.add(shard, share);
  }
  const buffer = buffers.get(order.folder);
  if (order.kind === 'forget') buffers.delete(order.folder);
  await buffer?.flush();
  return undefined;
}

serveOrders(obey, { pack: packSystemError });
