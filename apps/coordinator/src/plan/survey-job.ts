import { defaultMaxWholePixels, openImage, peekSize, type ReadOptions } from '@halogrid/imaging';
import { jobGrid, jobPipelines } from '@halogrid/jobs/accepted-job';
import { checkSpec } from '@halogrid/jobs/check-spec';
import { readSources } from '@halogrid/jobs/planned-sources';
import { QuarantineReasons } from '@halogrid/jobs/quarantine-reasons';
import { Refusal } from '@halogrid/jobs/refusal';
import type { ImageSize, PlannedStep } from '@halogrid/jobs/shard';
import { tileSide } from '@halogrid/jobs/tile-side';
import type { JobSpec, QuarantineReason } from '@halogrid/proto';
import { readOptions } from '@halogrid/proto/read-options';
import { UsageError } from '@halogrid/service/usage-error';
import { hasVideoExtension, listAllSources } from '@halogrid/sources';
import type { BlockSource } from '@halogrid/sources/source-block';
import { mapAhead } from '@halogrid/threads';
import { following } from '../output/previous/earlier-job.ts';
import { PlanCounter, type PlanTotals } from './plan-totals.ts';
import { planJob, realInputs } from './planner.ts';
import { withAllBands } from './with-all-bands.ts';

/** How many headers are read at once. */
const peeksAhead = 8;

/** A plan has more segments of recordings than its caller allows. */
export class LongPlanError extends Error {
  constructor(mostSegments: number) {
    super(`The recordings have more than ${mostSegments} segments`);
    this.name = 'LongPlanError';
  }
}

/** Yields the same steps. */
export type PassThrough = (spec: JobSpec, steps: AsyncIterable<PlannedStep[]>) => AsyncIterable<PlannedStep[]>;

/** The totals of a plan, and why it sets inputs aside: as in a job's status, the most frequent reason first. */
export interface JobSurvey extends PlanTotals {
  quarantine: QuarantineReason[];
}

/**
 * Plans a job without running it. The plan is the same as a coordinator's, but every image is opened for its size,
 * though not decoded. `onNote` is called with each note on the plan, a sentence, and `onBegin` with the totals before
 * they grow. Throws UsageError for a specification or a source that is refused, LongPlanError if recordings have more
 * segments than `mostSegments`, and the signal's reason. The steps pass through `through`, with the specification in
 * canonical form.
 */
export async function surveyJob(
  given: JobSpec,
  signal?: AbortSignal,
  onNote: (text: string) => void = () => {},
  onBegin: (soFar: Readonly<PlanTotals>) => void = () => {},
  mostSegments = Number.POSITIVE_INFINITY,
  through: PassThrough = (_, steps) => steps,
): Promise<JobSurvey> {
  const spec = await checkedSpec(given);
  const before = spec.share ? undefined : await following(spec);
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
  const read = readOptions(spec);
  const reasons = new QuarantineReasons();
  const examples = new Map<number, string>();
  let lastUri = '';
  const { list, fileBytes, recordings } = withFileBytes(listAllSources);
  const steps = surveyed(through(spec, planJob(spec, pipeline, signal, { ...realInputs, list })));
  const sized = (step: Surveyed) => withSize(step, tilePixels, channels, read);
  for await (const { step, size, copyBytes } of mapAhead(steps, peeksAhead, sized, { signal })) {
    if (step.kind === 'source') {
      const { index, uri, video, kept, error } = step.source;
      // Each recording has at least one segment, unless its earlier results are kept. After the first one, the number
      // of recordings shows whether there are too many.
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

/** A single source of a plan, or another step. */
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
 * Lists the same, counts files that look like recordings, and remembers the bytes of each file until `fileBytes`
 * returns them, once.
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

/** In canonical form, with the bands that it asks for. Throws UsageError. */
export async function checkedSpec(given: JobSpec): Promise<JobSpec> {
  try {
    return (await checkSpec(await withAllBands(given))).spec;
  } catch (error) {
    throw error instanceof Refusal
      ? new UsageError(error.sentence, { cause: error, code: error.code, field: error.field })
      : error;
  }
}

async function withSize(
  step: Surveyed,
  tilePixels: number,
  channels: 'gray' | 'rgb',
  read?: ReadOptions,
): Promise<{ step: Surveyed; size?: ImageSize; copyBytes?: number }> {
  if (step.kind !== 'source') return { step };
  const { uri, size, error } = step.source;
  if (size && size.width * size.height > defaultMaxWholePixels) {
    return { step, size, copyBytes: await copyBytesOf(uri, channels, read) };
  }
  if (size || error) return { step, size };
  const peeked = await peekSize(uri);
  // The planner would have cut a larger image: a frame that claims to be larger is a small file with a wrong header.
  const isFrame = peeked && peeked.width * peeked.height <= tilePixels;
  return { step, size: isFrame ? peeked : await sizeOf(uri, read) };
}

/** Bytes of the copy of an image that nodes make to read its tiles; 0 if they need none. */
async function copyBytesOf(uri: string, channels: 'gray' | 'rgb', read?: ReadOptions): Promise<number> {
  try {
    const image = await openImage(uri, read);
    await image.close();
    return image.copy?.bytes(channels) ?? 0;
  } catch {
    return 0;
  }
}

/** Undefined for an image that cannot be opened: nodes will set it aside. */
async function sizeOf(uri: string, read?: ReadOptions): Promise<ImageSize | undefined> {
  try {
    const image = await openImage(uri, read);
    await image.close();
    return { width: image.width, height: image.height, pixel: image.pixel };
  } catch {
    return undefined;
  }
}
