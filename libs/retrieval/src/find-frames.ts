import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Refusal } from '@halogrid/jobs/refusal';
import type { PixelRegion, SearchRequest, SearchResponse, SearchResult } from '@halogrid/proto';
import {
  type Catalog,
  checkComputable,
  checkOneBand,
  type Finding,
  queryVector,
  readFrame,
  readOf,
  type SearchIndex,
  type Unit,
  withoutPadding,
} from '@halogrid/search';
import type { DistanceName } from '@halogrid/search/distance-names';
import { openPixels, regionHistogram } from '@halogrid/search/query';
import { InputError, redactUri } from '@halogrid/sources';
import { indexedFrame } from './known-frame.ts';
import type { Tickets } from './tickets.ts';

/** The most pixels of a query: computing them on this thread takes some seconds. */
const mostPixels = 2 ** 28;

/**
 * Finds what is most like the query in an index. The request is checked before. The image of a query is written to
 * `folder` for a moment.
 */
export async function findFrames(
  index: SearchIndex,
  request: SearchRequest,
  tickets: Tickets,
  folder: string,
): Promise<SearchResponse> {
  const { catalog } = index;
  const { distance, top, cells, sinceMs, untilMs, camera, perSource, group } = request;
  checkFilter(catalog, request);
  const unit: Unit = cells ? 'cell' : 'frame';
  const counts = await countsOf(request, catalog, folder);
  const [findings] = await index.search({
    queries: [queryVector(catalog.pipeline, counts, unit)],
    distance: (distance || 'intersection') as DistanceName,
    top: top || 10,
    unit,
    filter: { sinceMs, untilMs, camera: camera || undefined },
    perSource: perSource || undefined,
    within: group || undefined,
  });
  return { results: findings!.map((finding) => resultOf(finding, catalog, unit, tickets)), frames: catalog.frames };
}

function resultOf({ score, row, cell, folded }: Finding, catalog: Catalog, unit: Unit, tickets: Tickets): SearchResult {
  const { columns } = catalog.pipeline.grid;
  const { value, fraction } = score;
  return {
    frame: indexedFrame(catalog, row, tickets),
    score: value,
    exact: fraction ? `${fraction.numerator}/${fraction.denominator}` : '',
    cellRow: unit === 'cell' ? Math.floor(cell / columns) : undefined,
    cellColumn: unit === 'cell' ? cell % columns : undefined,
    folded,
    jobId: catalog.jobOf(row).id,
  };
}

function checkFilter(catalog: Catalog, { sinceMs, untilMs, camera }: SearchRequest): void {
  if ((sinceMs !== undefined || untilMs !== undefined) && !catalog.knows('capturedAtMs')) {
    throw new Refusal('unmet', 'No frame of the index knows when it was captured, so none can be found by its time');
  }
  if (camera !== '' && !catalog.knows('camera')) {
    throw new Refusal('unmet', 'No frame of the index knows its camera, so none can be found by it');
  }
  if (camera !== '') catalog.checkCamera(camera);
}

async function countsOf({ query, region }: SearchRequest, catalog: Catalog, folder: string): Promise<Float64Array> {
  if (query?.$case === 'image') return countsOfImage(query.value, region, catalog, folder);
  const row = rowOf(query, catalog);
  if (!region) return withoutPadding(catalog.pipeline, readFrame(catalog, row));
  const { uri, frame, timestampMs } = catalog.describe(row);
  return countsOfPixels(catalog, uri, timestampMs === null ? undefined : frame, region);
}

function rowOf(query: SearchRequest['query'], catalog: Catalog): number {
  if (query?.$case === 'row') {
    if (query.value < catalog.frames) return query.value;
    throw new Refusal('missing', `There is no row ${query.value}: the index has rows 0 to ${catalog.frames - 1}`);
  }
  if (query?.$case !== 'frame') throw new Error('The query is not a frame');
  const { uri, frame } = query.value;
  const row = catalog.find(redactUri(uri), frame);
  if (row === undefined) throw new Refusal('missing', `Frame ${frame} of '${redactUri(uri)}' is not in the index`);
  return row;
}

/** Writes the image to a file for a moment, because decoders read files. */
async function countsOfImage(
  image: Uint8Array,
  region: PixelRegion | undefined,
  catalog: Catalog,
  folder: string,
): Promise<Float64Array> {
  const path = join(folder, randomUUID());
  await writeFile(path, image, { mode: 0o600 });
  try {
    return await countsOfPixels(catalog, pathToFileURL(path).href, undefined, region);
  } catch (error) {
    throw error instanceof InputError ? new Refusal('invalid', `The picture cannot be used: ${error.message}`) : error;
  } finally {
    await rm(path, { force: true });
  }
}

async function countsOfPixels(
  { pipeline }: Catalog,
  uri: string,
  videoFrame: number | undefined,
  region: PixelRegion | undefined,
): Promise<Float64Array> {
  checkComputable(pipeline);
  checkOneBand(pipeline);
  const source = await openPixels(uri, videoFrame, readOf(pipeline));
  try {
    const { width, height } = region ?? source;
    if (width * height <= mostPixels) return await regionHistogram(source, pipeline, region);
    throw new InputError('decode', `${width}x${height} are more than the ${mostPixels} pixels that a query may have`);
  } finally {
    await source.close();
  }
}
