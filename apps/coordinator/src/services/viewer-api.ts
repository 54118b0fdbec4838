import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { FrameHistograms, FramesAnswer, ImageAnswer, JobFrame } from '@halogrid/proto';
import type { Log } from '@halogrid/service';
import { jobGrid, jobParts } from '../job/accepted-job.ts';
import { Refusal, refuseValue } from '../job/refusal.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { SourceLine } from '../output/previous/source-line.ts';
import type { Retrieval } from '../retrieval/retrieval.ts';
import { answerJson, isMethod } from './http-json.ts';
import { parseJobPath } from './job-path.ts';
import { findJob } from './match-job-id.ts';
import { resultsFolder } from './results-folder.ts';
import { sendPicture } from './send-picture.ts';
import { type SourceLines, SourceLists } from './source-lines.ts';
import { readFrames, readIndex, readPart } from './viewer-parameters.ts';

/** Seconds that a browser may keep a picture of a source, whose file may change. */
const pictureAge = 600;

/**
 * Answers GET of what the viewer shows of a complete job, below /api/v1/jobs/ID: `frames`, its sources, by number or by name; `frame`, the histograms of
 * one; `cells`, those of all together, a cell each; `image`, whether parts of it can be shown; `picture`, one of them as PNG, or a part of it.
 */
export function createViewerApi(
  ledger: Ledger,
  retrieval: Pick<Retrieval, 'ask'>,
  log: Log,
): (request: IncomingMessage, response: ServerResponse) => boolean {
  const lists = new SourceLists();
  /** The part of a job that is asked for by its name, or the first: all have the same sources. */
  const openJob = async (given: string, asked?: string | null) => {
    const { jobId, spec } = await findJob(ledger, given);
    const folder = await resultsFolder(ledger, jobId);
    const parts = jobParts(spec);
    const part = asked ? parts.find(({ name }) => name === asked) : parts[0];
    if (!part) refuseValue('pipeline', asked ?? '', `one of ${parts.map(({ name }) => name).join(', ')}`);
    const inside = part.name === '' ? folder : join(folder, 'pipelines', part.name);
    return { spec, part, folder: inside, lines: await lists.at(join(inside, 'sources.jsonl')) };
  };
  const answers: Record<string, (given: string, query: URLSearchParams) => Promise<object>> = {
    frames: async (given, query) => {
      const { uri, frame, count, step, ...asked } = readFrames(query);
      const { lines } = await openJob(given);
      const from = uri === undefined ? asked.from : await lines.find(uri, frame);
      if (from === undefined) throw new Refusal('missing', 'The job has no such source');
      const frames = await lines.read(from, count, step);
      return {
        total: lines.length,
        frames: frames.map(({ index, line }) => frameOf(index, line)),
      } satisfies FramesAnswer;
    },
    image: async (given, query) => {
      const { line } = await sourceAt((await openJob(given)).lines, readIndex(query));
      const { uri, videoFrame } = sourceOf(line);
      if (videoFrame !== undefined) return { readsParts: false } satisfies ImageAnswer;
      return { readsParts: await retrieval.ask('readsParts', { uri }) } satisfies ImageAnswer;
    },
    cells: async (given, query) => {
      const { jobId } = await findJob(ledger, given);
      const name = query.get('pipeline');
      return retrieval.ask('cells', { folder: await resultsFolder(ledger, jobId), ...(name && { name }) });
    },
    frame: async (given, query) => {
      const { spec, part, folder, lines } = await openJob(given, query.get('pipeline'));
      const { done, line } = await sourceAt(lines, readIndex(query));
      if (line.quarantined) throw new Refusal('unmet', 'That source is quarantined, and has no histogram');
      const grid = jobGrid(spec);
      const count = grid.rows * grid.columns;
      const features = join(folder, 'features.parquet');
      const cells = await retrieval.ask('histograms', { features, first: done * count, count });
      return { ...grid, channels: [...part.pipeline.output.channels], cells } satisfies FrameHistograms;
    },
  };
  return (request, response) => {
    const [path = '', text = ''] = (request.url ?? '').split(/\?(.*)/s);
    const asked = parseJobPath(path);
    if (!asked) return false;
    const query = new URLSearchParams(text);
    if (asked.word === 'picture') {
      if (!isMethod(request, response, ['GET', 'HEAD'])) return true;
      const pictured = openJob(asked.jobId)
        .then(({ lines }) => sourceAt(lines, readIndex(query)))
        .then(({ line }) => retrieval.ask('region', { ...sourceOf(line), ...readPart(query) }));
      pictured.then(
        (picture) => sendPicture(response, picture, pictureAge),
        () => answerJson(response, log, pictured),
      );
      return true;
    }
    const answer = Object.hasOwn(answers, asked.word) ? answers[asked.word] : undefined;
    if (!answer) return false;
    if (isMethod(request, response, ['GET', 'HEAD'])) answerJson(response, log, answer(asked.jobId, query));
    return true;
  };
}

async function sourceAt(lines: SourceLines, index: number) {
  const [found] = await lines.read(index, 1);
  return found ?? refuseValue('index', index, `a whole number below ${lines.length}`);
}

const sourceOf = ({ uri, frame }: SourceLine) => ({ uri, ...(frame !== undefined && { videoFrame: frame }) });

function frameOf(index: number, line: SourceLine): JobFrame {
  const { uri, frame, timestampMs } = line;
  const of = line.quarantined ? { name: '', width: 0, height: 0, counted: 0 } : line;
  const { name, width, height, counted } = of;
  return {
    ...{ index, uri, name, width, height, counted },
    ...(frame !== undefined && { frame }),
    ...(typeof timestampMs === 'number' && { timestampMs }),
  };
}
