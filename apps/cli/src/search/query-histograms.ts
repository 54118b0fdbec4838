import type { Rect } from '@halogrid/geometry';
import {
  type Catalog,
  checkComputable,
  checkOneBand,
  type PipelineIdentity,
  readFrame,
  readOf,
  withoutPadding,
} from '@halogrid/search';
import { redactUri } from '@halogrid/sources';
import { framesOfJob } from './frames-of-job.ts';
import type { Query } from './read-query.ts';

const silent = { show() {}, note() {}, end() {} };

/** The histograms of queries: read from the index, or computed as the jobs of the index were. */
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

/**
 * The histograms of images by the pipeline of an index, in the order of `uris`. Rejects with one sentence if an image
 * cannot be read, or is a video or a folder.
 */
async function computeImages(
  uris: readonly string[],
  pipeline: PipelineIdentity,
  signal: AbortSignal,
): Promise<Float64Array[]> {
  checkComputable(pipeline);
  const { bands, scale, level, page } = pipeline;
  const spec = {
    sources: [...new Set(uris)],
    pipeline: { operations: pipeline.operations.map((operation) => ({ ...operation })) },
    out: '',
    op: [],
    mapFormat: 'none',
    tilePx: 0,
    batchFrames: 0,
    grid: { ...pipeline.grid },
    band: bands && { numbers: [...bands] },
    scale: scale && { ...scale },
    level,
    page,
  };
  const { job, parts } = await framesOfJob(spec, 'cpu', silent, signal);
  const reason = job.reasons[0];
  if (reason) throw new Error(`The query '${redactUri(reason.example)}' cannot be used: ${reason.error}`);
  const computed = new Map<string, Float64Array>();
  for (const { uri, frame, bins } of parts[0]!.frames) {
    if (frame > 0) throw new Error(`'${uri}' has more than one frame: index it, and ask for one as PATH#FRAME`);
    computed.set(uri, Float64Array.from(bins));
  }
  return uris.map((uri) => {
    const bins = computed.get(redactUri(uri));
    if (!bins) throw new Error(`The query '${redactUri(uri)}' is not an image file`);
    return bins;
  });
}

/**
 * The histograms of a region of each query. Its pixels are read here. Rejects with one sentence if they cannot be read.
 */
export async function regionHistograms(
  queries: readonly Query[],
  region: Rect,
  catalog: Catalog,
  signal: AbortSignal,
): Promise<Float64Array[]> {
  checkComputable(catalog.pipeline);
  checkOneBand(catalog.pipeline);
  // Loaded only here: decoders and kernels, which other queries do not need.
  const { openPixels, regionHistogram } = await import('@halogrid/search/query');
  const histograms: Float64Array[] = [];
  for (const query of queries) {
    signal.throwIfAborted();
    const { uri, videoFrame } = pixelsOf(query, catalog);
    try {
      const source = await openPixels(uri, videoFrame, readOf(catalog.pipeline));
      histograms.push(await regionHistogram(source, catalog.pipeline, region).finally(() => source.close()));
    } catch (error) {
      throw new Error(`The query '${query.text}' cannot be used: ${(error as Error).message}`, { cause: error });
    }
  }
  return histograms;
}

/** Where the pixels of a query are. */
function pixelsOf(query: Query, catalog: Catalog): { uri: string; videoFrame?: number } {
  const row = rowOf(query, catalog);
  if (row === undefined) return { uri: (query as Extract<Query, { kind: 'image' }>).uri };
  const { uri, frame, timestampMs } = catalog.describe(row);
  // URIs in the index have no secrets; the URI of the query may have them.
  return { uri: query.kind === 'frame' ? query.uri : uri, videoFrame: timestampMs === null ? undefined : frame };
}

/**
 * The row of the frame of the index that a query names; undefined if it names an image. Throws one sentence if there is
 * no such frame.
 */
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
