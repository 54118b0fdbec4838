import assert from 'node:assert/strict';
import type { Schema } from '@halogrid/proto/json';
import { misfit } from './misfit.ts';

interface Description {
  paths: Record<string, Record<string, { responses: Record<string, { content: Record<string, { schema: Schema }> }> }>>;
  components: { schemas: Record<string, Schema> };
}

const root = '/api/v1';
const descriptions = new Map<string, Promise<Description>>();

async function describe(origin: string, headers: RequestInit['headers']): Promise<Description> {
  const response = await globalThis.fetch(`${origin}${root}/openapi.json`, headers ? { headers } : {});
  assert.equal(response.status, 200, 'the coordinator describes its API');
  return (await response.json()) as Description;
}

/** As the global `fetch`, but asserts that every answer of the API fits the coordinator's own description. */
export const fetch: typeof globalThis.fetch = async (input, init) => {
  const response = await globalThis.fetch(input, init);
  const url = new URL(response.url || String(input));
  const type = response.headers.get('content-type')?.split(';')[0] ?? '';
  const isUnasked = response.status === 401 || response.status === 404 || init?.method === 'HEAD';
  if (!url.pathname.startsWith(`${root}/`) || isUnasked) return response;
  const known = descriptions.get(url.origin) ?? describe(url.origin, init?.headers);
  descriptions.set(url.origin, known);
  const { paths, components } = await known;
  const path = url.pathname.slice(root.length);
  const isPath = (pattern: string): boolean =>
    new RegExp(`^${pattern.replace('{name}', '.+').replaceAll(/\{\w+\}/g, '[^/]+')}/?$`).test(path);
  // A path without parameters comes before one with parameters.
  const [operations] = Object.entries(paths)
    .filter(([pattern]) => isPath(pattern))
    .map(([, found]) => found);
  assert.ok(operations, `${path} is described`);
  if (response.status === 405) return response;
  const { responses } = operations[(init?.method ?? 'GET').toLowerCase()]!;
  const { status } = response;
  const described = responses[status < 300 ? '200' : status === 304 ? '304' : `${String(status)[0]}XX`];
  assert.ok(described, `${status} of ${path} is described`);
  if (status === 304) return response;
  const { content } = described;
  // The type of a file follows from its name.
  if (status < 300 && content['application/octet-stream']) return response;
  assert.ok(content[type], `${type} of ${path} is described`);
  if (type !== 'application/json') return response;
  const why = misfit(await response.clone().json(), content[type].schema, components.schemas);
  assert.equal(why, undefined, `the answer of ${path} is what is described`);
  return response;
};
