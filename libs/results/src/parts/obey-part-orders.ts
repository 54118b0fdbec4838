import { summariseShard } from './found-shard.ts';
import { PartBuffer } from './part-buffer.ts';
import type { PartAnswer, PartOrder } from './part-order.ts';

/** What obeys the orders of a PartThread, each as it comes: packs shards, and writes them as parts of their jobs. */
export function obeyPartOrders(): (order: PartOrder) => Promise<PartAnswer> {
  /** By the folder of the parts. */
  const buffers = new Map<string, PartBuffer>();
  return async (order) => {
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
  };
}
