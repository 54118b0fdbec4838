import { Refusal } from '@halogrid/jobs/refusal';
import { placeAt } from '@halogrid/results/place';
import { listPath, SourceList } from '@halogrid/results/source-list';

/** How many lists are kept, those used last: a page asks for the same one again and again. */
const mostKept = 4;

/** Lists of sources by path or s3: URI, kept while their files do not change. */
export class SourceLists {
  readonly #lists = new Map<string, { version: string; list: Promise<SourceList> }>();

  /**
   * The list in the folder of a job or pipeline, which is a path or s3: URI. Rejects with Refusal if it is missing, and
   * with PlaceError if a bucket cannot be read.
   */
  async in(folder: string): Promise<SourceList> {
    const path = await listPath(folder);
    const version = path === undefined ? undefined : (await placeAt(path).file())?.version;
    if (path === undefined || version === undefined) {
      throw new Refusal('missing', 'The job has no list of its sources any more: run it again');
    }
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
