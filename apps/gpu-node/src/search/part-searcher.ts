import { fileURLToPath } from 'node:url';
import type { PartFound, SearchPart } from '@halogrid/proto';
import { rankingsMessage } from '@halogrid/search';
import { allowedPath } from '@halogrid/sources';
import { limitConcurrency } from '@halogrid/threads';
import { HeldIndex, type HeldIndexOptions } from './held-index.ts';

/** Indexes that stay open: the columns of a million frames are 90 MB. */
const mostHeld = 3;
/** Default: after this time without a search, indexes are closed and their memory is given back. */
const usualIdleMs = 600_000;

export interface PartSearcherOptions extends HeldIndexOptions {
  /** Called after a search with the number of frames searched and the seconds that it took. */
  searched?: (frames: number, seconds: number) => void;
  idleMs?: number;
}

/** Searches parts of indexes, one order after another, and keeps indexes open for later orders. */
export class PartSearcher {
  readonly #options: PartSearcherOptions;
  readonly #inTurn = limitConcurrency(1);
  /** By version and folder; the most recently used index is last. */
  readonly #held = new Map<string, HeldIndex>();
  #idle: NodeJS.Timeout | undefined;

  constructor(options: PartSearcherOptions) {
    this.#options = options;
  }

  /** The answer to an order. Never rejects: if the order cannot be carried out, the answer says why. */
  search(order: SearchPart): Promise<PartFound> {
    return this.#inTurn(async () => {
      clearTimeout(this.#idle);
      const { search, version } = order;
      try {
        const begin = performance.now();
        const held = await this.#hold(order);
        const { found, frames } = await held.find(order);
        this.#options.searched?.(frames, (performance.now() - begin) / 1000);
        return { search, version, rankings: rankingsMessage(found), error: '' };
      } catch (error) {
        return { search, version, rankings: [], error: error instanceof Error ? error.message : String(error) };
      } finally {
        this.#idle = setTimeout(() => void this.close(), this.#options.idleMs ?? usualIdleMs).unref();
      }
    });
  }

  /** Closes all open indexes. */
  async close(): Promise<void> {
    clearTimeout(this.#idle);
    await this.#inTurn(async () => {
      for (const held of this.#held.values()) await held.close();
      this.#held.clear();
    });
  }

  async #hold({ index, version }: SearchPart): Promise<HeldIndex> {
    const folder = await allowedPath(fileURLToPath(index));
    const key = `${version} ${folder}`;
    const held = this.#held.get(key) ?? (await HeldIndex.open(folder, version, this.#options));
    this.#held.delete(key);
    this.#held.set(key, held);
    for (const [oldest, other] of this.#held) {
      if (this.#held.size <= mostHeld) break;
      this.#held.delete(oldest);
      await other.close();
    }
    return held;
  }
}
