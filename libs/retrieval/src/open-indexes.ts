import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { IndexError, type OpenScan, SearchIndex } from '@halogrid/search';

/** The most indexes that stay open between searches: the columns of a million frames take 90 MB. */
const mostOpen = 3;

/**
 * Keeps indexes open as long as nobody writes to them. Do not ask for an index while another is in use: the other one
 * may be closed.
 */
export class OpenIndexes {
  readonly #open = new Map<string, { stamp: string; index: SearchIndex }>();
  readonly #scanOf: (folder: string) => OpenScan;

  /** `scanOf` returns how to look through the index in a folder. */
  constructor(scanOf: (folder: string) => OpenScan) {
    this.#scanOf = scanOf;
  }

  /** The index in `folder` as it is now. Rejects with IndexError. */
  async at(folder: string): Promise<SearchIndex> {
    const stamp = await stampOf(folder);
    const known = this.#open.get(folder);
    this.#open.delete(folder);
    if (known && known.stamp !== stamp) await known.index.close();
    const index = known?.stamp === stamp ? known.index : await SearchIndex.openWith(folder, this.#scanOf(folder));
    this.#open.set(folder, { stamp, index });
    for (const [oldest, { index: other }] of this.#open) {
      if (this.#open.size <= mostOpen) break;
      this.#open.delete(oldest);
      await other.close();
    }
    if (index.catalog.frames === 0) throw new IndexError('The index is empty: there is nothing to find');
    return index;
  }
}

/** A text that changes when the manifest of the index is replaced. */
async function stampOf(folder: string): Promise<string> {
  const { ino, size, mtimeMs } = await stat(join(folder, 'manifest.json')).catch(() => {
    throw new IndexError('There is no index in its folder');
  });
  return `${ino} ${size} ${mtimeMs}`;
}
