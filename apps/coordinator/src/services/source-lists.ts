import { stat } from 'node:fs/promises';
import { Refusal } from '@halogrid/jobs/refusal';
import { listPath, SourceList } from '@halogrid/results/source-list';

/** How many lists are kept, those used last: a page asks for the same one again and again. */
const mostKept = 4;

/** Lists of sources by path, kept while their files do not change. */
export class SourceLists {
  readonly #lists = new Map<string, { version: string; list: Promise<SourceList> }>();

  /** The list in the folder of a job or pipeline. Rejects with Refusal if it is missing. */
  async in(folder: string): Promise<SourceList> {
    const path = await listPath(folder);
    if (path === undefined) throw new Refusal('missing', 'The job has no list of its sources any more: run it again');
    const { size, mtimeMs } = await stat(path);
    const version = `${size}-${mtimeMs}`;
    const known = this.#lists.get(path);
    this.#lists.delete(path);
    const kept = known?.version === version ? known : { version, list: SourceList.at(path) };
    kept.list.catch(() => this.#lists.delete(path));
    this.#lists.set(path, kept);
    const [oldest] = this.#lists.keys();
    if (this.#lists.size > mostKept) this.#lists.delete(oldest!);
    return kept.list;
  }
}
