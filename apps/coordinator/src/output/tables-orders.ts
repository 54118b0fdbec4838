import type { TablesAnswer, TablesOrder } from './tables-order.ts';
import { TablesReader } from './tables-reader.ts';
import { TablesWriter } from './tables-writer.ts';

/** Executes orders: reads parts of a job, writes its tables, or both. */
export class TablesOrders {
  #reader: TablesReader | undefined;
  #writer: TablesWriter | undefined;

  /** Rejects with one sentence if it fails; then `abort` must be called. */
  async obey(order: TablesOrder): Promise<TablesAnswer> {
    switch (order.kind) {
      case 'begin':
        this.#reader = new TablesReader(order);
        return undefined;
      case 'read':
        return this.#reader!.read(order);
      case 'list':
        return this.#reader!.list(order);
      case 'end':
        await this.#reader!.close();
        this.#reader = undefined;
        return undefined;
      case 'open':
        this.#writer = await TablesWriter.open(order);
        return undefined;
      case 'write':
        return { kind: 'written', written: await this.#writer!.append(order.tables) };
      case 'finish': {
        const summaries = await this.#writer!.finish(order.sources, order.descriptions);
        this.#writer = undefined;
        return { kind: 'finished', summaries };
      }
    }
  }

  /** Closes all files, and removes tables that are not finished. */
  async abort(): Promise<void> {
    await this.#reader?.close();
    await this.#writer?.abort();
  }
}
