import type { Ledger } from '@halogrid/ledger';
import type { Retrieval } from '@halogrid/retrieval';
import type { Access } from '@halogrid/service';
import type { WorkView } from '../../dispatch/work-view.ts';
import type { JobAnswers } from '../job-answers.ts';
import type { JobCalls } from '../job-calls.ts';
import type { Searcher } from '../searcher.ts';
import { jobRoutes } from './job-routes.ts';
import { resultsRoutes } from './results-routes.ts';
import type { Route } from './route.ts';
import { searchRoutes } from './search-routes.ts';
import { submitRoutes } from './submit-routes.ts';
import { viewerRoutes } from './viewer-routes.ts';
import { watchRoute } from './watch-route.ts';

export interface ApiParts {
  calls: JobCalls;
  known: JobAnswers;
  view: WorkView;
  ledger: Ledger;
  searcher: Searcher;
  retrieval: Pick<Retrieval, 'ask'>;
  access: Access;
  /** The port at which users' commands reach this coordinator. */
  grpcPort: number;
}

/** All routes of a coordinator below /api/v1. */
export function apiRoutes(parts: ApiParts): Route[] {
  const { calls, known, view, ledger, searcher, retrieval, access, grpcPort } = parts;
  const routes = [
    ...jobRoutes(calls, known, view),
    watchRoute(calls, access),
    ...resultsRoutes(ledger, grpcPort),
    ...viewerRoutes(ledger, retrieval),
    ...searchRoutes(searcher),
    ...submitRoutes(access),
  ];
  return [...routes, descriptionRoute(routes)];
}

/** GET /openapi.json, the description of the routes and of itself. */
function descriptionRoute(routes: readonly Route[]): Route {
  let description: object | undefined;
  const route: Route = {
    method: 'GET',
    name: 'getDescription',
    path: '/openapi.json',
    role: 'read',
    summary: 'This description',
    answer: { type: 'application/json', words: 'OpenAPI 3.1' },
    respond: async () => {
      const { describeApi } = await import('./openapi.ts');
      description ??= describeApi([...routes, route]);
      return description;
    },
  };
  return route;
}
