import { firstOf } from '@halogrid/jobs/planned-sources';
import type { Shard } from '@halogrid/jobs/shard';
import type { Share } from '@halogrid/proto';

/**
 * Deals the shards of a plan to shares, each to the share with the fewest bytes so far. So who does a shard depends
 * only on the plan and on the number of shares. Tiles of an image go to one share, unless the job splits images.
 */
export class ShareDealer {
  readonly #own: number;
  readonly #splitsImages: boolean;
  readonly #bytes: Float64Array;
  /** The image whose tiles are being dealt, and the share that gets them. */
  #image = -1;
  #taker = 0;

  constructor({ number, of, splitImages }: Pick<Share, 'number' | 'of' | 'splitImages'>) {
    this.#own = number - 1;
    this.#splitsImages = splitImages;
    this.#bytes = new Float64Array(of);
  }

  /** Deals the next shard of the plan: returns it, marked if it belongs to another share. */
  deal({ elsewhere: _, ...shard }: Shard): Shard {
    return this.#takerOf(shard) === this.#own ? shard : { ...shard, elsewhere: true };
  }

  #takerOf({ work, costBytes }: Shard): number {
    const image = work.kind === 'tile' && !this.#splitsImages ? firstOf(work.sources) : -1;
    if (image < 0 || image !== this.#image) this.#taker = this.#leastBusy();
    this.#image = image;
    this.#bytes[this.#taker]! += costBytes;
    return this.#taker;
  }

  /** The first share with the fewest bytes. */
  #leastBusy(): number {
    let least = 0;
    for (let share = 1; share < this.#bytes.length; share++) {
      if (this.#bytes[share]! < this.#bytes[least]!) least = share;
    }
    return least;
  }
}
