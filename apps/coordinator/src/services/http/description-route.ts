import type { Route } from './route.ts';

/** GET /openapi.json, the description of the routes and of itself. */
export function descriptionRoute(routes: readonly Route[]): Route {
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
