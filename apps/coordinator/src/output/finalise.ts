import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  assembleMap,
  assemblePreview,
  histogramSvg,
  type MapFormat,
  mapExtensions,
  writeFileAtomically,
} from '@halogrid/imaging';
import { describePipeline, type Pipeline, type Rect } from '@halogrid/kernels';
import type { JobRecord, JobResults, SourceOutcome } from '../ledger/ledger.ts';
import { cutTiles, tileSide } from '../plan/cut-tiles.ts';
import { errorsJsonl } from './errors-jsonl.ts';
import type { FeaturesFile } from './features-file.ts';
import { histogramJson } from './histogram-json.ts';
import { abandonedJobJson, completeJobJson } from './job-json.ts';
import { mapKind, mapType } from './map-type.ts';
import { type NamedSource, namedSources } from './named-sources.ts';
import { outputPath, removeOutput, removeScratch, scratchUri } from './output-folder.ts';

/**
 * Sources with a lower index get a preview: the first ones in the order of results. Leases carry it, so that nodes know
 * which sources need preview chunks.
 */
export const previewSources = 20;

/**
 * Pictures made at once: reading one and writing another overlap, and each holds a band of rows. Measured: one after
 * another, 20 previews and the rest of the output took a third of a second, a tenth of a job of 6,000 frames on an H200.
 */
const picturesAtOnce = 4;

type DoneSource = Extract<SourceOutcome, { state: 'done' }>;

const isDone = (named: NamedSource): named is NamedSource<DoneSource> => named.source.state === 'done';

/**
 * Writes the output of a job whose shards are all done into its folder, job.json with state "complete" last, and removes
 * the scratch folder. `features` is what openFeatures gave for the job. Rejects with one sentence where that fails (disk full, a chunk that is missing), and with the
 * signal's reason when `signal` aborts; nothing is being written any more then, and `abandonJob` cleans up. `now` gives
 * milliseconds since 1970.
 */
export async function finaliseJob(
  results: JobResults,
  pipeline: Pipeline,
  features: Pick<FeaturesFile, 'finish'> | undefined,
  now: () => number,
  signal?: AbortSignal,
): Promise<void> {
  const { out } = results.job.spec;
  const folder = outputPath(out);
  try {
    await writeHistogram(folder, results, pipeline);
    await writeErrors(folder, results);
    const writers = [
      async () => features?.finish(results.sources.length),
      () => writePictures(folder, results, pipeline, signal),
    ];
    await forEachOf(writers, writers.length, (write) => write());
    await writeFileAtomically(join(folder, 'job.json'), completeJobJson(results, pipeline, now()));
  } catch (error) {
    signal?.throwIfAborted();
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`The output in '${folder}' could not be written: ${why}`, { cause: error });
  }
  await removeScratch(out);
}

/**
 * Ends the output of a job that will not be complete: removes everything but job.json, which says `state` and, for a
 * failed job, why. Rejects where job.json cannot be written.
 */
export async function abandonJob(
  job: JobRecord,
  end: { state: 'cancelled' } | { state: 'failed'; error: string },
  finishedMs: number,
): Promise<void> {
  // First, because it makes room on a disk that is full.
  await removeOutput(job.spec.out);
  const text = abandonedJobJson(job, end, finishedMs);
  await writeFileAtomically(join(outputPath(job.spec.out), 'job.json'), text);
}

/** Where the pipeline has no histogram, histogram.json has its channels without bins, and there is nothing to draw. */
async function writeHistogram(folder: string, results: JobResults, pipeline: Pipeline): Promise<void> {
  const { counted, bins } = results;
  const { kernel } = pipeline.operations[pipeline.operations.length - 1]!;
  const channels = pipeline.output.channels.map((name, channel) => {
    return { name, bins: bins.subarray(channel * pipeline.bins, (channel + 1) * pipeline.bins) };
  });
  const histogram = { kernel, convention: pipeline.convention, counted, channels };
  await writeFileAtomically(join(folder, 'histogram.json'), histogramJson(histogram));
  if (pipeline.bins === 0) return;
  const title = `${kernel.toUpperCase()} histogram`;
  const subtitle = `${describePipeline(pipeline)} · ${counted.toLocaleString('en')} pixels`;
  await writeFileAtomically(join(folder, 'histogram.svg'), histogramSvg({ title, subtitle, channels }));
}

async function writeErrors(folder: string, { job, sources }: JobResults): Promise<void> {
  if (job.counts.quarantined === 0) return;
  await writeFileAtomically(join(folder, 'errors.jsonl'), errorsJsonl(sources));
}

/** Previews of the first sources, and maps of all where the job asks for them. */
async function writePictures(
  folder: string,
  results: JobResults,
  pipeline: Pipeline,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { spec } = results.job;
  const type = mapType(pipeline.output);
  const scratch = scratchUri(spec.out);
  const previews = join(folder, 'preview');
  const previewed = [...namedSources(results).take(previewSources)].filter(isDone);
  if (previewed.length) await mkdir(previews, { recursive: true });
  await forEachOf(previewed, picturesAtOnce, async ({ source, name }) => {
    signal?.throwIfAborted();
    const to = join(previews, `${name}.png`);
    const rects = rectsOf(source, spec.tilePx);
    await assemblePreview({ scratch, source: source.index, size: source.size, type, rects, to, levels: pipeline.bins });
  });
  if (!isMapFormat(spec.mapFormat)) return;

  const format = spec.mapFormat;
  const { convention, output, bins } = pipeline;
  const kind = mapKind(pipeline);
  const description = type.bands > 1 ? `${convention}; bands ${output.channels.join(', ')}` : convention;
  const maps = join(folder, 'maps');
  const assemble = async ({ source, name }: NamedSource<DoneSource>): Promise<void> => {
    await mkdir(maps, { recursive: true });
    const to = join(maps, name + mapExtensions[format]);
    const rects = rectsOf(source, spec.tilePx);
    await assembleMap(
      { scratch, source: source.index, size: source.size, type, kind, bins, rects, to, format, description },
      signal,
    );
  };
  await forEachOf(namedSources(results).filter(isDone), picturesAtOnce, assemble);
}

const isMapFormat = (format: string): format is MapFormat => Object.hasOwn(mapExtensions, format);

/** Runs `act` on every item, a few at once. Rejects with the first failure, after what was under way has ended too. */
async function forEachOf<Item>(
  items: Iterable<Item>,
  atOnce: number,
  act: (item: Item) => Promise<void>,
): Promise<void> {
  const queue = Iterator.from(items);
  let hasFailed = false;
  const work = async (): Promise<void> => {
    for (const item of queue) {
      if (hasFailed) return;
      await act(item).catch((error: unknown) => {
        hasFailed = true;
        throw error;
      });
    }
  };
  const workers = await Promise.allSettled(Array.from({ length: atOnce }, work));
  for (const worker of workers) if (worker.status === 'rejected') throw worker.reason;
}

/** The parts in which a source was computed: the planner's tiles, or the whole. */
function rectsOf({ size, tiles }: DoneSource, tilePx: number): Rect[] {
  return tiles > 1 ? [...cutTiles(size, tileSide(tilePx))] : [{ x: 0, y: 0, ...size }];
}
