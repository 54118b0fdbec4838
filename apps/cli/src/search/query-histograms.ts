import { type Catalog, readFrame, withoutPadding } from '@halogrid/search';
import { redactUri } from '@halogrid/sources';
import { computeImages } from './compute-images.ts';
import type { Query } from './read-query.ts';

/** The histograms of queries: from the index, or computed as its jobs have computed them. */
export async function queryHistograms(
  queries: readonly Query[],
  catalog: Catalog,
  signal: AbortSignal,
): Promise<Float64Array[]> {
  const rows = queries.map((query) => rowOf(query, catalog));
  const images = queries.filter((query) => query.kind === 'image').map(({ uri }) => uri);
  const computed = images.length > 0 ? await computeImages(images, catalog.pipeline, signal) : [];
  return rows.map((row) =>
    row === undefined ? computed.shift()! : withoutPadding(catalog.pipeline, readFrame(catalog, row)),
  );
}

/** The frame of the index that a query names; undefined where it names an image. Throws one sentence where there is no such frame. */
function rowOf(query: Query, catalog: Catalog): number | undefined {
  if (query.kind === 'image') return undefined;
  if (query.kind === 'row') {
    if (query.row < catalog.frames) return query.row;
    throw new Error(`There is no ${query.text}: the rows of the index are 0 to ${catalog.frames - 1}`);
  }
  const row = catalog.find(redactUri(query.uri), query.frame);
  if (row === undefined) throw new Error(`Frame ${query.frame} of '${redactUri(query.uri)}' is not in the index`);
  return row;
}
