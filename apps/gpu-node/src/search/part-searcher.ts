import { fileURLToPath } from 'node:url';
import type { PartFound, SearchPart } from '@halogrid/proto';
import { rankingsMessage } from '@halogrid/search';
import { allowedPath } from '@halogrid/sources';
import { limitConcurrency } from '@halogrid/threads';
import { HeldIndex, type HeldIndexOptions } from './held-index.ts';

/** Indexes that stay open: the columns of a million frames are 90 MB. */
const mostHeld = 3;
/** Without a search for so long, the memory of indexes is given back. */
const usualIdleMs = 600_000;

export interface PartSearcherOptions extends HeldIndexOptions {
  /** Told how many frames were looked through, and how many seconds that took. */
  searched?: (frames: number, seconds: number) => void;
  idleMs?: number;
}

/** Looks through parts of indexes, one order after another, and keeps what it has open of them for the next. */
export class PartSearcher {
  readonly #options: PartSearcherOptions;
  readonly #inTurn = limitConcurrency(1);
  /** By folder and version, the one that was asked for last behind the others. */
  readonly #held = new Map<string, HeldIndex>();
  #idle: NodeJS.Timeout | undefined;

  constructor(options: PartSearcherOptions) {
    this.#options = options;
  }

  /** The answer to an order. Never rejects: where it cannot be carried out, the answer says why. */
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

  /** Gives back what it holds. */
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
