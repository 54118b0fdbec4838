import { defaultMaxWholePixels, openImage, peekSize } from '@halogrid/imaging';
import { jobGrid, jobPipelines } from '@halogrid/jobs/accepted-job';
import { checkSpec } from '@halogrid/jobs/check-spec';
import { readSources } from '@halogrid/jobs/planned-sources';
import { QuarantineReasons } from '@halogrid/jobs/quarantine-reasons';
import { Refusal } from '@halogrid/jobs/refusal';
import type { ImageSize, PlannedStep } from '@halogrid/jobs/shard';
import { tileSide } from '@halogrid/jobs/tile-side';
import type { JobSpec, QuarantineReason } from '@halogrid/proto';
import { UsageError } from '@halogrid/service/usage-error';
import { hasVideoExtension, listAllSources } from '@halogrid/sources';
import type { BlockSource } from '@halogrid/sources/source-block';
import { mapAhead } from '@halogrid/threads';
import { following } from '../output/previous/earlier-job.ts';
import { PlanCounter, type PlanTotals } from './plan-totals.ts';
import { planJob, realInputs } from './planner.ts';

/** Headers that are read at once. */
const peeksAhead = 8;

/** A plan has more segments of recordings than were to be listed for it. */
export class LongPlanError extends Error {
  constructor(mostSegments: number) {
    super(`The recordings have more than ${mostSegments} segments`);
    this.name = 'LongPlanError';
  }
}

/** What a plan comes to, and why it sets inputs aside: as a job says it, the most frequent reason first. */
export interface JobSurvey extends PlanTotals {
  quarantine: QuarantineReason[];
}

/**
 * Plans a job without running it. The plan is the one that a coordinator makes; here every image is looked at, though
 * not decoded, for its size. `onNote` is told what is to be told of the plan, in sentences, and `onBegin` given what
 * grows into its totals. Throws UsageError for a specification or a source that is refused, LongPlanError where
 * recordings have more segments than `mostSegments`, and the signal's reason.
 */
export async function surveyJob(
  given: JobSpec,
  signal?: AbortSignal,
  onNote: (text: string) => void = () => {},
  onBegin: (soFar: Readonly<PlanTotals>) => void = () => {},
  mostSegments = Number.POSITIVE_INFINITY,
): Promise<JobSurvey> {
  const spec = await checked(given);
  const before = await following(spec);
  const mayKeep = before?.kind === 'follows' && before.how === 'kept';
  const pipelines = jobPipelines(spec);
  const pipeline = pipelines[0]!;
  const counter = new PlanCounter(pipelines, {
    grid: jobGrid(spec),
    mapFormat: spec.mapFormat,
  });
  onBegin(counter.totals);
  const tilePixels = tileSide(spec.tilePx) ** 2;
  const channels = pipeline.input.length === 1 ? 'gray' : 'rgb';
  const reasons = new QuarantineReasons();
  const examples = new Map<number, string>();
  let lastUri = '';
  const { list, fileBytes, recordings } = withFileBytes(listAllSources);
  const steps = surveyed(planJob(spec, pipeline, signal, { ...realInputs, list }));
  const sized = (step: Surveyed) => withSize(step, tilePixels, channels);
  for await (const { step, size, copyBytes } of mapAhead(steps, peeksAhead, sized, { signal })) {
    if (step.kind === 'source') {
      const { index, uri, video, kept, error } = step.source;
      // Each is a segment at least, unless what was found of it before is kept; the first is enough to tell what the
      // others are like.
      const isNext = video !== undefined && uri !== lastUri && counter.totals.segments > 0;
      if (isNext && !mayKeep && recordings() > mostSegments) throw new LongPlanError(mostSegments);
      counter.addSource(index, uri, size, { copyBytes, fileBytes: fileBytes(uri) });
      lastUri = uri;
      if (kept !== undefined) counter.addKept(index);
      if (!error) continue;
      counter.addQuarantine();
      if (reasons.add(index, error)) examples.set(index, uri);
    } else if (step.kind === 'note') onNote(step.text);
    else if (step.kind === 'shard' && step.shard.work.kind !== 'kept') counter.addShard(step.shard.work);
    if (counter.totals.segments > mostSegments) throw new LongPlanError(mostSegments);
  }
  return { ...counter.totals, quarantine: reasons.list((source) => examples.get(source)!) };
}

/** A source of a plan by itself, or another step. */
type Surveyed = { kind: 'source'; source: BlockSource } | Exclude<PlannedStep, { kind: 'sources' }>;

async function* surveyed(plan: AsyncIterable<readonly PlannedStep[]>): AsyncGenerator<Surveyed, void, undefined> {
  for await (const steps of plan) {
    for (const step of steps) {
      if (step.kind !== 'sources') yield step;
      else for (const source of readSources(step.sources)) yield { kind: 'source', source };
    }
  }
}

/**
 * Lists the same, and remembers how long files are until that is asked for, once, and how many look like recordings.
 */
function withFileBytes(list: typeof listAllSources): {
  list: typeof listAllSources;
  fileBytes: (uri: string) => number;
  recordings: () => number;
} {
  const bytes = new Map<string, number>();
  let recordings = 0;
  return {
    list: async function* (...given) {
      for await (const sources of list(...given)) {
        for (const { uri, name, sizeBytes } of sources) {
          if (sizeBytes > 0) bytes.set(uri, sizeBytes);
          if (hasVideoExtension(name)) recordings++;
        }
        yield sources;
      }
    },
    fileBytes: (uri) => {
      const found = bytes.get(uri) ?? 0;
      bytes.delete(uri);
      return found;
    },
    recordings: () => recordings,
  };
}

async function checked(given: JobSpec): Promise<JobSpec> {
  try {
    return (await checkSpec(given)).spec;
  } catch (error) {
    throw error instanceof Refusal
      ? new UsageError(error.sentence, { cause: error, code: error.code, ...(error.field && { field: error.field }) })
      : error;
  }
}

async function withSize(
  step: Surveyed,
  tilePixels: number,
  channels: 'gray' | 'rgb',
): Promise<{ step: Surveyed; size?: ImageSize; copyBytes?: number }> {
  if (step.kind !== 'source') return { step };
  const { uri, size, error } = step.source;
  if (size && size.width * size.height > defaultMaxWholePixels) {
    return { step, size, copyBytes: await copyBytesOf(uri, channels) };
  }
  if (size || error) return { step, size };
  const peeked = await peekSize(uri);
  // A frame that claims more than the planner would leave whole is a small file with a wrong header.
  const isFrame = peeked && peeked.width * peeked.height <= tilePixels;
  return { step, size: isFrame ? peeked : await sizeOf(uri) };
}

/** Bytes of the copy that nodes make of an image to read its tiles from; 0 where they need none. */
async function copyBytesOf(uri: string, channels: 'gray' | 'rgb'): Promise<number> {
  try {
    const image = await openImage(uri);
    await image.close();
    return image.copy?.bytes(channels) ?? 0;
  } catch {
    return 0;
  }
}

/** Undefined for what nodes will set aside. */
async function sizeOf(uri: string): Promise<ImageSize | undefined> {
  try {
    const image = await openImage(uri);
    await image.close();
    return { width: image.width, height: image.height, pixel: image.pixel };
  } catch {
    return undefined;
  }
}
