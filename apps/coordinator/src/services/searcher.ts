import type { Ledger } from '@halogrid/ledger';
import type {
  ChangesRequest,
  ChangesResponse,
  ListFramesRequest,
  ListFramesResponse,
  ListIndexesResponse,
  SearchRequest,
  SearchResponse,
} from '@halogrid/proto';
import {
  folderInRoots,
  indexFolder,
  type NamedFolders,
  type Orders,
  type PngPicture,
  type Retrieval,
  type Searched,
} from '@halogrid/retrieval';
import { checkChanges, checkListFrames, checkSearch } from './check-search.ts';
import { resultsPlace } from './results-place.ts';

/**
 * Searches, for gRPC and HTTP alike. All requests are checked, and only folders that this coordinator may read are
 * searched.
 */
export class Searcher {
  readonly #retrieval: Pick<Retrieval, 'ask' | 'searchNodes'>;
  readonly #ledger: Ledger;
  readonly #named: NamedFolders;
  readonly #searched: (searched: Searched) => void;

  /** `searched` is called after every search, for metrics. */
  constructor(
    retrieval: Pick<Retrieval, 'ask' | 'searchNodes'>,
    ledger: Ledger,
    named: NamedFolders,
    searched: (searched: Searched) => void,
  ) {
    this.#retrieval = retrieval;
    this.#ledger = ledger;
    this.#named = named;
    this.#searched = searched;
  }

  async listIndexes(): Promise<ListIndexesResponse> {
    if (this.#named.size === 0) return { indexes: [] };
    const folders = [...this.#named].map(([name, folder]) => ({ name, folder }));
    return { indexes: await this.#retrieval.ask('indexes', folders) };
  }

  async listFrames(request: ListFramesRequest): Promise<ListFramesResponse> {
    checkListFrames(request);
    return this.#retrieval.ask('frames', { folder: await indexFolder(request.index, this.#named), request });
  }

  async search(request: SearchRequest): Promise<SearchResponse> {
    checkSearch(request);
    const folder = await indexFolder(request.index, this.#named);
    const nodes = this.#retrieval.searchNodes();
    const searched = await this.#retrieval.ask('search', { folder, request, nodes });
    this.#searched(searched);
    return searched.response;
  }

  async changes(request: ChangesRequest): Promise<ChangesResponse> {
    const { jobId, out } = checkChanges(request);
    const place = jobId === '' ? await folderInRoots(out, 'an output') : (await resultsPlace(this.#ledger, jobId)).at;
    return this.#retrieval.ask('changes', { place, request });
  }

  picture(order: Orders['picture']['order']): Promise<PngPicture> {
    return this.#retrieval.ask('picture', order);
  }
}
