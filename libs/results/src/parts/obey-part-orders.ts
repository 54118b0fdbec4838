import type { EarlierReader } from './earlier-reader.ts';
import { summariseShard } from './found-shard.ts';
import { PartBuffer, type PartTask } from './part-buffer.ts';
import type { PartAnswer, PartOrder } from './part-order.ts';

/** Executes the orders of a PartThread: packs shards, and writes them as parts of their jobs. */
export function obeyPartOrders(): (order: PartOrder) => Promise<PartAnswer> {
  /** The buffer of each folder of parts. */
  const buffers = new Map<string, PartBuffer>();
  const earlier = new Map<string, EarlierReader>();
  const bufferOf = (task: PartTask): PartBuffer => {
    const buffer = buffers.get(task.folder) ?? new PartBuffer(task);
    buffers.set(task.folder, buffer);
    return buffer;
  };
  const keep = async ({ task, earlier: pipelines, shards }: Extract<PartOrder, { kind: 'keep' }>) => {
    const { EarlierReader } = await import('./earlier-reader.ts');
    const reader = earlier.get(task.folder) ?? new EarlierReader(pipelines);
    earlier.set(task.folder, reader);
    const found = await reader.read(shards);
    const buffer = bufferOf(task);
    const written = Promise.all(found.map((shard) => buffer.add(shard)));
    // The flush settles the promises of all shards.
    await Promise.all([written, buffer.flush()]);
    return written;
  };
  return async (order) => {
    if (order.kind === 'summarise') return summariseShard(order.shard, order.shapes);
    if (order.kind === 'add') {
      const { task, shard } = order;
      return bufferOf(task).add(shard);
    }
    if (order.kind === 'keep') return keep(order);
    const buffer = buffers.get(order.folder);
    if (order.kind === 'forget') {
      buffers.delete(order.folder);
      earlier.delete(order.folder);
    }
    await buffer?.flush();
    return undefined;
  };
}
