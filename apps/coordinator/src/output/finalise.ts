import { createReadStream } from 'node:fs';
import { mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { jobGrid, jobPipeline } from '@halogrid/jobs/accepted-job';
import { mapType } from '@halogrid/jobs/map-type';
import { outputName, outputPath, partScratchUri, scratchUri } from '@halogrid/jobs/output-paths';
import { isMapFormat, mapFiles, previewFiles } from '@halogrid/jobs/picture-files';
import { readSources } from '@halogrid/jobs/planned-sources';
import { type PreviewCandidate, PreviewChoice } from '@halogrid/jobs/preview-choice';
import { isKept, type PlanStep } from '@halogrid/jobs/shard';
import { WantError } from '@halogrid/jobs/want-error';
import { describePipeline, type Pipeline } from '@halogrid/kernels';
import { FencedError, type JobRecord, type JobResults } from '@halogrid/ledger';
import {
  assembleMap,
  CompressThreads,
  dziPage,
  dziScript,
  dziScriptName,
  histogramSvg,
  mapExtensions,
  matrixSvg,
  syncFolder,
  writeFileAtomically,
} from '@halogrid/results';
import { overwriteClaim } from '@halogrid/results/claim-file';
import { describeResults } from '@halogrid/results/describe-results';
import { histogramJson } from '@halogrid/results/histogram-json';
import { digestOfAll } from '@halogrid/results/job-digest';
import {
  exists,
  type Move,
  movesPath,
  newFilesPath,
  publishOutput,
  readyOutput,
  takeOverOutput,
} from '@halogrid/results/publish-output';
import { listNames } from '@halogrid/results/source-list';
import type { CaptureCounts } from '@halogrid/results/source-tables';
import { isBucketUri } from '@halogrid/sources';
import type { BlockSource } from '@halogrid/sources/source-block';
import { forEachLimited } from '@halogrid/threads';
import { leaveBucket, publishToBucket } from './bucket/bucket-output.ts';
import { writesCaptured } from './captured-by.ts';
import { type DoneSource, DoneSources } from './done-sources.ts';
import { abandonedJobJson, completeJobJson, type JobDigests, type SourcesListed } from './job-json.ts';
import { LostPartError } from './lost-part-error.ts';
import { restoreEarlier } from './output-folder.ts';
import { atOnce, type UntilWritten } from './output-wait.ts';
import { earlyPictures, makePictures, rectsOf, takePictures } from './pictures.ts';
import { comparePlan } from './previous/changes.ts';
import { EarlierOutput } from './previous/earlier-output.ts';
import { otherResultsVersion } from './previous/other-results-version.ts';
import { removeOutput, removeRemade, removeScratch } from './scratch-folder.ts';
import type { PartSummary, TablesOutput } from './tables-output.ts';

/** Pictures and maps made at once: reading one and writing another overlap, and each holds a band of rows. */
const picturesAtOnce = 4;

/** The outputs that were begun while results came in, who finalises, and how files are written. */
export interface FinaliseBegun {
  /** As Ledger.logEpochOf, for the job; by default 1. */
  epoch?: number;
  /** As Ledger.confirm, for the job. */
  confirm?: () => Promise<void>;
  tables: Pick<TablesOutput, 'finish'>;
  previewed?: readonly number[];
  until?: UntilWritten;
}

/** What is known when everything is written. */
export interface FinishedOutput {
  digest: string;
  /** Where capture times are from; undefined if an earlier process had written the output. */
  captured: CaptureCounts | undefined;
}

/** The results of a pipeline, and the folder in which its files are put together. */
interface Part {
  folder: string;
  results: JobResults;
  pipeline: Pipeline;
  /** Folder URIs of the chunks of its results, and of the chunks of the sources themselves. */
  scratch: string;
  sourcesScratch: string;
}

/**
 * Writes the output of a job whose shards are all done, and then moves it to its folder, job.json with state "complete"
 * last. It replaces the output of an earlier job, except the maps and previews of kept sources. Removes the scratch
 * folder. `tables` comes from openTables, and `previewed` are the sources that the planner chose for a preview, if it
 * ran in this process. Resolves with the digest of the job and where capture times are from. Rejects with one sentence
 * if it fails (such as a missing chunk), with LostPartError if a part is lost, and with the signal's reason if `signal`
 * aborts; by then all writing has stopped. After that, abandonJob cleans up, or finaliseJob is called again when the
 * part is there. Each file is written through `until`, by default without repeating. `now` gives milliseconds since
 * 1970.
 *
 * An earlier leader may not be gone, but paused in this function. Until the output is complete, each leader writes to a
 * place of its own. Then the registry must confirm this leader, and nothing of the earlier one is moved any more.
 */
export async function finaliseJob(
  results: JobResults,
  pipeline: Pipeline,
  { epoch = 1, confirm = async () => {}, tables, previewed, until = atOnce }: FinaliseBegun,
  now: () => number,
  signal?: AbortSignal,
): Promise<FinishedOutput> {
  const { out } = results.job.spec;
  const folder = outputPath(out);
  let captured: CaptureCounts | undefined;
  let digest: string;
  try {
    if (!(await until(() => takeOverOutput(folder, epoch)))) {
      const chosen = previewed ? new Set(previewed) : await previewedSources(results);
      captured = await prepareOutput(results, pipeline, { epoch, tables, until, previewed: chosen }, now, signal);
    }
    await confirm();
    ({ digest } = JSON.parse(await readFile(join(newFilesPath(folder, epoch), 'job.json'), 'utf8')));
    if (isBucketUri(out)) await until(() => publishToBucket(out, results.job.jobId, epoch));
    else await until(() => publishOutput(folder, epoch));
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof WantError || error instanceof LostPartError || error instanceof FencedError) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`The output in '${outputName(folder)}' could not be written: ${why}`, { cause: error });
  }
  await removeScratch(out);
  return { digest, captured };
}

/** Writes all files of the output, job.json last, to the folder where it is put together. */
async function prepareOutput(
  results: JobResults,
  pipeline: Pipeline,
  {
    epoch,
    tables,
    until,
    previewed,
  }: { epoch: number; until: UntilWritten; previewed: ReadonlySet<number> } & Pick<FinaliseBegun, 'tables'>,
  now: () => number,
  signal: AbortSignal | undefined,
): Promise<CaptureCounts | undefined> {
  const { spec } = results.job;
  const folder = newFilesPath(outputPath(spec.out), epoch);
  const write = (path: string, content: () => Parameters<typeof writeFileAtomically>[1]): Promise<void> =>
    until(() => writeFileAtomically(path, content()));
  const parts = partsOf(results, pipeline, folder);
  for (const part of parts) {
    for (const pictures of ['preview', 'maps']) {
      await until(() => mkdir(join(part.folder, pictures), { recursive: true }));
    }
  }
  const { sources: count } = results.job.counts;
  const isKept = await keptSources(results);
  const sources = new DoneSources(spec, results.settled, until);
  const descriptions = parts.map(({ pipeline }) => describeResults(pipeline, jobGrid(spec), '', spec));
  const written = tables.finish(count, descriptions);
  const isWanted = ({ index }: DoneSource): boolean => !isKept[index];
  const threads = new CompressThreads();
  // In parallel, because the end of a small job mostly waits for the disk.
  const writers = [
    ...parts.flatMap((part, i) => [
      () => writePreviews(part, sources, previewed, isWanted, until, signal),
      () => writeMaps(part, sources, isWanted, threads, until, signal),
      async () => {
        const { digest } = (await written)[i]!;
        await until(() => writeHistogram(part, digest));
      },
    ]),
  ];
  await forEachLimited(writers, writers.length, (writer) => writer()).finally(() =>
    Promise.all([sources.close(), threads.end()]),
  );
  const summaries = await written;
  const digests = digestsOf(results, summaries);
  if (results.parts && results.job.counts.quarantined > 0) {
    const errors = join(parts[0]!.folder, 'errors.jsonl');
    await write(join(folder, 'errors.jsonl'), () => createReadStream(errors, 'utf8'));
  }
  const entries = await readdir(folder);
  await write(movesPath(outputPath(spec.out), epoch), () => movesJsonl(results, previewed, entries));
  const earlier = await EarlierOutput.open(spec);
  const captured = writesCaptured(results, pipeline) ? summaries[0]!.captured : undefined;
  const findings = {
    captured,
    incremental: earlier && (await comparePlan(results.plan(), earlier).finally(() => earlier.close())),
    earlierResultsVersion: await otherResultsVersion(spec),
  };
  const finishedMs = now();
  for (const [i, part] of (results.parts ? parts : []).entries()) {
    // A pipeline without a histogram has no column of times.
    const own = part.pipeline.bins > 0 ? findings : { ...findings, captured: undefined };
    const text = completeJobJson(
      part.results,
      part.pipeline,
      finishedMs,
      { digest: digests.parts[i]!, parts: [] },
      summaries[i]!,
      own,
    );
    await write(join(part.folder, 'job.json'), () => text);
  }
  const listed = results.parts ? listOfAll(results.parts, summaries[0]!) : summaries[0]!;
  const text = completeJobJson(results, pipeline, finishedMs, digests, listed, findings);
  await write(join(folder, 'job.json'), () => text);
  return captured;
}

function digestsOf({ parts }: JobResults, summaries: readonly PartSummary[]): JobDigests {
  const each = summaries.map(({ digest }) => digest);
  const digest = parts ? digestOfAll(parts.map(({ name }, i) => ({ name, digest: each[i]! }))) : each[0]!;
  return { digest, parts: each };
}

/** The listed sources of a job with several pipelines, without pixels counted, which differ by pipeline. */
function listOfAll([first]: NonNullable<JobResults['parts']>, { listed, file, entries }: PartSummary): SourcesListed {
  const uncounted = listed?.map((entry) => JSON.stringify({ ...JSON.parse(entry), counted: undefined }));
  return { listed: uncounted, file: `pipelines/${first!.name}/${file}`, entries };
}

/** Each named pipeline has a folder, with the files of a job by itself. */
function partsOf(results: JobResults, pipeline: Pipeline, folder: string): Part[] {
  const { out } = results.job.spec;
  const sourcesScratch = scratchUri(out);
  if (!results.parts) return [{ folder, results, pipeline, scratch: sourcesScratch, sourcesScratch }];
  return results.parts.map((part) => ({
    folder: join(folder, 'pipelines', part.name),
    results: part.results,
    pipeline: jobPipeline(part.results.job.spec),
    scratch: partScratchUri(out, part.name),
    sourcesScratch,
  }));
}

/** By index of the source: 1 if it is kept and needs only its row and its line. */
async function keptSources({ plan, job }: JobResults): Promise<Uint8Array> {
  const isKept = new Uint8Array(job.counts.sources);
  if (!job.counts.kept) return isKept;
  for await (const { index } of keptOf(plan())) isKept[index] = 1;
  return isKept;
}

/** The sources of a plan whose earlier results are kept. */
async function* keptOf(plan: AsyncIterable<PlanStep>): AsyncGenerator<BlockSource & { kept: string }> {
  for await (const step of plan) {
    if (step.kind !== 'shard' || !isKept(step.shard)) continue;
    for (const source of readSources(step.shard.work.sources)) yield { ...source, kept: source.kept! };
  }
}

/** Indexes of the sources that get a preview, chosen from all sources, as the planner chose them while it listed. */
async function previewedSources({ plan }: JobResults): Promise<Set<number>> {
  const choice = new PreviewChoice();
  const listed: PreviewCandidate[] = [];
  for await (const step of plan()) {
    if (step.kind !== 'sources') continue;
    for (const { index, uri, video } of readSources(step.sources)) listed[index] = { uri, frame: video?.frame };
  }
  for (const [index, source] of listed.entries()) choice.add(index, source);
  return choice.chosen;
}

/**
 * Entries of the earlier output that stay, and entries that are removed because `entries`, the names in the new output,
 * lack them.
 */
async function* movesJsonl(
  results: JobResults,
  previewed: ReadonlySet<number>,
  entries: readonly string[],
): AsyncGenerator<string> {
  const { plan, job } = results;
  const folder = outputPath(job.spec.out);
  for (const name of ['histogram.svg', 'features.parquet', 'errors.jsonl', ...Object.values(listNames)]) {
    if (!entries.includes(name)) yield `${JSON.stringify({ remove: name } satisfies Move)}\n`;
  }
  if (!job.counts.kept) return;
  const below = results.parts?.map((part) => `pipelines/${part.name}/`) ?? [''];
  for await (const { index, name, kept } of keptOf(plan())) {
    const now = mapFiles(name, job.spec.mapFormat);
    for (const [i, file] of mapFiles(kept, job.spec.mapFormat).entries()) {
      for (const part of below) {
        // If it was removed after the plan was made, the earlier output has changed.
        await stat(join(folder, part + file));
        yield `${JSON.stringify({ keep: part + file, as: part + now[i]! } satisfies Move)}\n`;
      }
    }
    if (!previewed.has(index)) continue;
    for (const [i, file] of previewFiles(kept).entries()) {
      for (const part of below) {
        // A source that was chosen in place of one that is not listed any more may never have had a preview.
        if (!(await exists(join(folder, part + file)))) continue;
        yield `${JSON.stringify({ keep: part + file, as: part + previewFiles(name)[i]! } satisfies Move)}\n`;
      }
    }
  }
}

/**
 * Ends the output of a job that will not be complete: removes everything but job.json, which says `state` and, for a
 * failed job, why. An earlier job's output in the folder stays, with its job.json. If the job's own output is complete
 * but not in place, it stays, and the next job moves it into place. Rejects if job.json cannot be written.
 *
 * If the job failed because something outside it was missing, its results so far stay in the scratch folder, and the
 * next job of that specification goes on with them. Then it resolves with true.
 */
export async function abandonJob(
  job: JobRecord,
  end: { state: 'cancelled' } | { state: 'failed'; error: string; isWant?: boolean },
  finishedMs: number,
): Promise<boolean> {
  const { out } = job.spec;
  const canGoOn = end.state === 'failed' && end.isWant === true && (await exists(fileURLToPath(scratchUri(out))));
  const text = abandonedJobJson(job, end, finishedMs, canGoOn);
  const write = (): Promise<void> => writeFileAtomically(join(outputPath(out), 'job.json'), text);
  if (canGoOn) {
    await removeRemade(out);
    // If that fails too, job.json still says that the job runs, and a later job goes on with it just as well.
    await write().catch(() => overwriteClaim(outputPath(out), text).catch(() => false));
    return true;
  }
  if ((await readyOutput(outputPath(out))) !== undefined) return false;
  const isRestored = await restoreEarlier(out);
  if (isBucketUri(out)) {
    await leaveBucket(out, job.jobId, isRestored ? undefined : text);
    await removeScratch(out);
    return false;
  }
  if (isRestored) return false;
  // First, because it makes room on a full disk.
  await removeOutput(out);
  await write();
  return false;
}

/** If the pipeline has no histogram, histogram.json has its channels without bins, and there is nothing to draw. */
async function writeHistogram({ folder, results, pipeline }: Part, digest: string): Promise<void> {
  const { counted, bins } = results;
  const { kernel } = pipeline.operations[pipeline.operations.length - 1]!;
  const channels = pipeline.output.channels.map((name, channel) => {
    return { name, bins: bins.subarray(channel * pipeline.bins, (channel + 1) * pipeline.bins) };
  });
  const { spec } = results.job;
  const description = describeResults(pipeline, jobGrid(spec), digest, spec);
  const { binning, pairs } = pipeline;
  const histogram = { kernel, counted, channels, description, binning, pairs };
  await writeFileAtomically(join(folder, 'histogram.json'), histogramJson(histogram));
  if (pipeline.bins === 0) return;
  const title = `${kernel.toUpperCase()} histogram`;
  const subtitle = `${describePipeline(pipeline)} · ${counted.toLocaleString('en')} ${pairs ? 'pairs' : 'pixels'}`;
  const chart = { title, subtitle, channels };
  const svg = pairs ? matrixSvg({ ...chart, levels: pairs.levels }) : histogramSvg({ ...chart, binning });
  await writeFileAtomically(join(folder, 'histogram.svg'), svg);
}

/** Makes a picture of the map of each done source in `previewed`, and a picture of the source. */
async function writePreviews(
  { folder, results, pipeline, scratch, sourcesScratch }: Part,
  sources: DoneSources,
  previewed: ReadonlySet<number>,
  isWanted: (source: DoneSource) => boolean,
  until: UntilWritten,
  signal: AbortSignal | undefined,
): Promise<void> {
  const parts = { pipeline, scratch, sourcesScratch, tilePx: results.job.spec.tilePx };
  await forEachLimited([...previewed], picturesAtOnce, async (index) => {
    signal?.throwIfAborted();
    const source = await sources.look(index);
    if (!source || source === 'quarantined' || !isWanted(source)) return;
    const [map, original] = previewFiles(source.name);
    const to = [join(folder, map), join(folder, original)] as const;
    await until(async () => {
      if (!(await takePictures(earlyPictures(parts, source.index), to))) await makePictures(parts, source, to);
    });
  });
  await syncFolder(join(folder, 'preview'));
}

/** Writes the maps of all computed sources, if the job asks for maps. */
async function writeMaps(
  { folder, results, pipeline, scratch }: Part,
  sources: DoneSources,
  isWanted: (source: DoneSource) => boolean,
  threads: CompressThreads,
  until: UntilWritten,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { spec } = results.job;
  if (!isMapFormat(spec.mapFormat)) return;
  const type = mapType(pipeline.output);
  const format = spec.mapFormat;
  const { convention, output, bins, meaning: kind } = pipeline;
  const description = type.bands > 1 ? `${convention}; bands ${output.channels.join(', ')}` : convention;
  const bandNames = type.bands > 1 ? output.channels : [];
  const assemble = async (source: DoneSource): Promise<void> => {
    const to = join(folder, 'maps', source.name + mapExtensions[format]);
    const rects = rectsOf(source, spec.tilePx);
    const map = { scratch, source: source.index, size: source.size, type, kind, bins, rects, to, format, threads };
    await until(() => assembleMap({ ...map, description, bandNames }, signal));
  };
  const maps: { name: string; width: number; height: number }[] = [];
  const each = async function* () {
    for await (const source of sources) {
      if (format === 'dzi') maps.push({ name: source.name, ...source.size });
      if (isWanted(source)) yield source;
    }
  };
  await forEachLimited(each(), picturesAtOnce, assemble);
  if (format === 'dzi') await until(() => writeDziPage(join(folder, 'maps'), maps));
}

/** The page that shows all maps of the folder in a browser, also kept ones. */
async function writeDziPage(folder: string, maps: Parameters<typeof dziPage>[0]): Promise<void> {
  await writeFileAtomically(join(folder, dziScriptName), await dziScript());
  await writeFileAtomically(join(folder, 'index.html'), dziPage(maps));
}
