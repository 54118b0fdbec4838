import type { SearchServer } from '@halogrid/proto';
import type { Log } from '@halogrid/service';
import type { Searcher } from './searcher.ts';
import { unaryCall } from './unary-call.ts';

/** halogrid.v1.Search; search.proto says what each call means. */
export function createSearchService(searcher: Searcher, log: Log): SearchServer {
  return {
    listIndexes: unaryCall(log, () => searcher.listIndexes()),
    listFrames: unaryCall(log, (request) => searcher.listFrames(request)),
    search: unaryCall(log, (request) => searcher.search(request)),
    changes: unaryCall(log, (request) => searcher.changes(request)),
  };
}
