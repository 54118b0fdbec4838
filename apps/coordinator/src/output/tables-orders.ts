import type { TablesAnswer, TablesOrder } from './tables-order.ts';
import { TablesReader } from './tables-reader.ts';
import { TablesWriter } from './tables-writer.ts';

/** Reads parts of a job, writes its tables, or both, as it is ordered. */
export class TablesOrders {
  #reader: TablesReader | undefined;
  #writer: TablesWriter | undefined;

  /** Rejects with one sentence where it fails; then the tables are to be aborted. */
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

  /** Closes what is open, and removes what was written of tables that are not finished. */
  async abort(): Promise<void> {
    await this.#reader?.close();
    await this.#writer?.abort();
  }
}
