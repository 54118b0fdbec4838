import { jobGrid, jobParts } from '@halogrid/jobs/accepted-job';
import { Refusal, refuseValue } from '@halogrid/jobs/refusal';
import type { Ledger } from '@halogrid/ledger';
import type { JobFrame } from '@halogrid/proto';
import { readOptions } from '@halogrid/proto/read-options';
import type { SourceLine, SourceList } from '@halogrid/results/source-list';
import type { Retrieval } from '@halogrid/retrieval';
import { findJob } from '../match-job-id.ts';
import { resultsPlace } from '../results-place.ts';
import { SourceLists } from '../source-lists.ts';
import { whileReadable } from '../while-readable.ts';
import { otherRoute, type Route, route } from './route.ts';
import { pictureAnswer, sendPicture } from './send-picture.ts';
import { readFrameSteps, readIndex, readPart } from './viewer-parameters.ts';

/** Seconds that a browser may keep a picture of a source, whose file may change. */
const pictureAge = 600;

/** What the viewer shows of a complete job: its sources, by number or by name, their histograms and their pictures. */
export function viewerRoutes(ledger: Ledger, retrieval: Pick<Retrieval, 'ask'>): Route[] {
  const lists = new SourceLists();
  /** The part of a job with the asked name, or the first: all parts have the same sources. */
  const openJob = async (given: string, asked = '') => {
    const { jobId, spec } = await findJob(ledger, given);
    const place = await resultsPlace(ledger, jobId);
    const parts = jobParts(spec);
    const part = asked ? parts.find(({ name }) => name === asked) : parts[0];
    if (!part) refuseValue('pipeline', asked, `one of ${parts.map(({ name }) => name).join(', ')}`);
    const inside = part.name === '' ? place : place.in('pipelines', part.name);
    return { spec, part, place: inside, list: await whileReadable(lists.in(inside.at)) };
  };
  const read = { method: 'GET', role: 'read' } as const;
  return [
    route(
      {
        ...read,
        name: 'listSources',
        path: '/jobs/{id}/frames',
        summary: 'Sources of a complete job, in their order',
        query: 'FramesQuery',
        answer: 'FramesAnswer',
      },
      async ({ path, query }) => {
        const { step, count } = readFrameSteps(query);
        const { list } = await openJob(path.id!);
        const from =
          query.uri === undefined ? (query.from ?? 0) : await whileReadable(list.find(query.uri, query.frame));
        if (from === undefined) throw new Refusal('missing', 'The job has no such source', 'uri');
        const frames: JobFrame[] = [];
        for (let index = from; index < Math.min(list.length, from + count * step); index += step) {
          frames.push(frameOf(index, await whileReadable(list.line(index))));
        }
        return { total: list.length, frames };
      },
    ),
    route(
      {
        ...read,
        name: 'getSource',
        path: '/jobs/{id}/image',
        summary: 'How a source of a complete job can be shown',
        query: 'ImageQuery',
        answer: 'ImageAnswer',
      },
      async ({ path, query }) => {
        const { spec, list } = await openJob(path.id!);
        const { uri, frame } = await sourceAt(list, readIndex(query));
        const read = readOptions(spec);
        return { readsParts: frame === undefined && (await retrieval.ask('readsParts', { uri, read })) };
      },
    ),
    otherRoute(
      {
        ...read,
        name: 'getPicture',
        path: '/jobs/{id}/picture',
        summary: 'A source of a complete job, or a part of it',
        query: 'RegionQuery',
        answer: pictureAnswer,
      },
      async ({ path, query }, response) => {
        const { spec, list } = await openJob(path.id!);
        const { uri, frame } = await sourceAt(list, readIndex(query));
        const shown = { uri, videoFrame: frame, read: readOptions(spec) };
        sendPicture(response, await retrieval.ask('region', { ...shown, ...readPart(query) }), pictureAge);
      },
    ),
    route(
      {
        ...read,
        name: 'getCells',
        path: '/jobs/{id}/cells',
        summary: 'Histograms of all sources of a complete job together',
        query: 'CellsQuery',
        answer: 'FrameHistograms',
      },
      async ({ path, query }) => {
        const { jobId } = await findJob(ledger, path.id!);
        const name = query.pipeline;
        return retrieval.ask('cells', { place: (await resultsPlace(ledger, jobId)).at, name: name || undefined });
      },
    ),
    route(
      {
        ...read,
        name: 'getSourceHistograms',
        path: '/jobs/{id}/frame',
        summary: 'Histograms of one source of a complete job',
        query: 'FrameQuery',
        answer: 'FrameHistograms',
      },
      async ({ path, query }) => {
        const { spec, part, place, list } = await openJob(path.id!, query.pipeline);
        const index = readIndex(query);
        const line = await sourceAt(list, index);
        if (line.quarantined) throw new Refusal('unmet', 'That source is quarantined, and has no histogram');
        const grid = jobGrid(spec);
        const count = grid.rows * grid.columns;
        const before = await whileReadable(list.doneBefore(index));
        const cells = await retrieval.ask('histograms', {
          features: place.in('features.parquet').at,
          first: before * count,
          count,
        });
        return { ...grid, channels: [...part.pipeline.output.channels], cells: cells.map((bins) => ({ bins })) };
      },
    ),
  ];
}

async function sourceAt(list: SourceList, index: number): Promise<SourceLine> {
  if (index >= list.length) refuseValue('index', index, `a whole number below ${list.length}`);
  return whileReadable(list.line(index));
}

function frameOf(index: number, line: SourceLine): JobFrame {
  const { uri, frame, timestampMs } = line;
  const of = line.quarantined ? { name: '', width: 0, height: 0, counted: 0 } : line;
  const { name, width, height, counted } = of;
  return {
    index,
    uri,
    name,
    width,
    height,
    counted,
    frame,
    timestampMs: typeof timestampMs === 'number' ? timestampMs : undefined,
  };
}
