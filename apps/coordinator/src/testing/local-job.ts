// For tests: runs a job as a coordinator and its nodes do, with the real planner, ledger and output, in this process.

import { join } from 'node:path';
import type { Size } from '@halogrid/geometry';
import { openImage } from '@halogrid/imaging';
import { type JobPart, jobGrid, jobParts, jobPipeline } from '@halogrid/jobs/accepted-job';
import { mapType } from '@halogrid/jobs/map-type';
import { outputPath, partScratchUri, scratchUri } from '@halogrid/jobs/output-paths';
import { readSources } from '@halogrid/jobs/planned-sources';
import {
  isKept,
  isRecorded,
  type PlannedStep,
  type Shard,
  type ShardWork,
  type SourceError,
  type SourceResult,
} from '@halogrid/jobs/shard';
import { placeItem, planPipeline, runReference } from '@halogrid/kernels';
import type { LogLedger, Registry } from '@halogrid/ledger';
import { foundShard, shapesOf } from '@halogrid/ledger/testing-memory-parts';
import { openLogLedger } from '@halogrid/ledger/testing-open-log-ledger';
import type { JobSpec } from '@halogrid/proto';
import { piecesOf, samplesOfPart, writeChunk } from '@halogrid/results';
import { readKnown } from '@halogrid/results/known-sums';
import { isZarr } from '@halogrid/results/map-format';
import type { FoundInPart } from '@halogrid/results/part-writer';
import type { BlockSource } from '@halogrid/sources/source-block';
import { finaliseJob } from '../output/finalise.ts';
import { endPublishedShare, finishShare } from '../output/finish-logged.ts';
import { claimOutputFolder, releaseOutputFolder, resumeOutputFolder } from '../output/output-folder.ts';
import { atOnce } from '../output/output-wait.ts';
import { KeptReader } from '../output/previous/kept-reader.ts';
import { openTables } from '../output/tables-file.ts';
import type { TablesEvents } from '../output/tables-output.ts';
import { partsOf } from '../output/write-part.ts';
import { continuePlan } from '../plan/continue-plan.ts';
import { planJob } from '../plan/planner.ts';
import { runPlan } from '../plan/run-plan.ts';
import { writePreviewChunks } from './preview-chunks.ts';

export interface LocalJob {
  jobId: string;
  spec: JobSpec;
  registry: Registry;
}

/**
 * Runs a job to its end, or goes on with a job whose coordinator has ended. Resolves with the URIs of the sources that
 * were computed meanwhile. With `dieAfter`, the coordinator ends after this many done shards, and leaves a longer job
 * half-way. Rejects with LostLedgerError if the ledger is lost meanwhile.
 */
export async function runLocalJob(job: LocalJob, dieAfter = Number.POSITIVE_INFINITY): Promise<string[]> {
  const { spec, registry } = job;
  const lost = Promise.withResolvers<never>();
  // A lost ledger does not answer any more.
  lost.promise.catch(() => {});
  const options = { lost: lost.reject, partsOf };
  const ledger = await openLogLedger(join(outputPath(spec.out), '.halogrid'), registry, options);
  try {
    return await Promise.race([runWith(ledger, job, dieAfter), lost.promise]);
  } finally {
    releaseOutputFolder(spec.out);
    await ledger.close();
  }
}

/** As runLocalJob, with a ledger that has the job if that goes on. */
export async function runWith(
  ledger: LogLedger,
  { jobId, spec }: Omit<LocalJob, 'registry'>,
  dieAfter = Number.POSITIVE_INFINITY,
): Promise<string[]> {
  const pipeline = jobPipeline(spec);
  const shards: Shard[] = [];
  if (await ledger.getJob(jobId)) {
    await resumeOutputFolder(spec.out, { jobId, spec });
    for (const { shard } of (await ledger.resume(jobId)).open) shards.push(shard);
  } else {
    await claimOutputFolder(spec.out, { jobId, spec });
    await ledger.createJob({ jobId, spec, submittedMs: 1000 });
  }
  const addPlan = async (planned: PlannedStep[]): Promise<void> => {
    const steps = planned.filter(isRecorded);
    await ledger.addPlan(jobId, steps, false);
    for (const step of steps) if (step.kind === 'shard' && !step.shard.elsewhere) shards.push(step.shard);
  };
  if (!(await ledger.getJob(jobId))!.planned) {
    const plan = continuePlan(ledger.recordedPlan(jobId), planJob(spec, pipeline));
    await runPlan(plan, { write: addPlan, room: async () => {} });
    if (dieAfter === 0) return [];
    await ledger.addPlan(jobId, [], true);
  }
  const computed: string[] = [];
  const earlier = new KeptReader({ spec });
  for (const shard of shards) {
    if (dieAfter-- === 0) return computed;
    if (isKept(shard)) {
      const [found] = await earlier.keep([shard]);
      const answer = { results: [], errors: [], stageSeconds: {}, inputBytes: 0 };
      await ledger.commit({ jobId, shard: shard.shard, attempt: 0, epoch: ledger.epoch, ...answer, found: found! });
    } else computed.push(...(await compute(ledger, { jobId, spec }, shard)));
  }
  await earlier.end();
  const results = await ledger.results(jobId);
  if (spec.share) {
    if (!(await endPublishedShare(results))) await finishShare(results, {}, () => 61_000);
    await ledger.setState(jobId, 'complete', { nowMs: 61_000 });
    return computed;
  }
  const settled: TablesEvents['settled'] = (from, atMost) => ledger.settled(jobId, from, atMost);
  // A failure is met at the end, too.
  const failed = () => {};
  const tables = openTables({ spec, pipeline }, { epoch: 1, settled, failed, until: atOnce });
  const { digest } = await finaliseJob(results, pipeline, { tables }, () => 61_000);
  await ledger.setState(jobId, 'complete', { nowMs: 61_000, digest });
  return computed;
}

/** Computes a shard as a node does, with the reference; returns the URIs of its sources. */
async function compute(ledger: LogLedger, job: Omit<LocalJob, 'registry'>, { shard, work }: Shard): Promise<string[]> {
  const results: SourceResult[] = [];
  const errors: SourceError[] = [];
  const sources = [...readSources(work.sources)];
  for (const ref of sources) {
    try {
      const parts = jobParts(job.spec).map(async (part, i) => {
        // All pipelines need its stated time and its size.
        const computed = await computePart(job.spec, part, ref, work);
        const known = ref.known && readKnown(ref.known, shapesOf(job.spec), i);
        return { ...computed, ...(known && { counted: known.counted, bins: Array.from(known.bins) }) };
      });
      for (const [pipeline, result] of (await Promise.all(parts)).entries()) {
        results.push(pipeline > 0 ? { ...result, pipeline } : result);
      }
    } catch (error) {
      errors.push({ source: ref.index, stage: 'decode', error: (error as Error).message });
    }
  }
  const answer = {
    node: { name: 'node', device: 'twin' },
    stageSeconds: {},
    inputBytes: 0,
    errors,
    ...(work.kind === 'tile' ? { results } : { results: [], found: await writeFound(job.spec, work, results) }),
  };
  await ledger.commit({ jobId: job.jobId, shard, attempt: 1, epoch: ledger.epoch, ...answer });
  return sources.map(({ uri }) => uri);
}

async function writeFound(spec: JobSpec, work: ShardWork, results: SourceResult[]): Promise<FoundInPart> {
  const [found] = await partsOf(spec)([foundShard(work.sources.block, results, shapesOf(spec))]);
  return found!;
}

/** The result of one pipeline for a source; its chunks go where nodes write them. */
async function computePart(
  spec: JobSpec,
  { name, pipeline }: JobPart,
  { index: source, uri, preview }: BlockSource,
  work: ShardWork,
): Promise<SourceResult> {
  const image = await openImage(uri);
  const size: Size = { width: image.width, height: image.height };
  const rect = work.kind === 'tile' ? work.rect : { x: 0, y: 0, ...size };
  const plan = planPipeline(pipeline, rect, size, jobGrid(spec));
  const { item, end } = placeItem(plan, pipeline.input.length, 0);
  const bytes = new Uint8Array(end);
  // Not every format can be read by region.
  const whole = new Uint8Array(size.width * size.height);
  const plane = { bytes: whole, offset: 0, stride: size.width, planeBytes: whole.length, channels: 'gray' as const };
  await image.decode({ x: 0, y: 0, ...size }, plane);
  for (const { from, to } of plan.copies) {
    for (let row = 0; row < from.height; row++) {
      const at = (from.y + row) * size.width + from.x;
      bytes.set(whole.subarray(at, at + from.width), item.offset + (to.y + row) * item.stride + to.x);
    }
  }
  await image.close();
  const { captured } = image;
  const result = runReference(pipeline, bytes, item, true);
  const { counted, bins, map } = result;
  const samples = { bytes: map!.bytes, strideBytes: map!.stride, bandBytes: map!.bandBytes };
  const type = mapType(pipeline.output);
  const chunk = { scratch: partScratchUri(spec.out, name), source, size, type, rect };
  for (const piece of spec.mapFormat === 'none' ? [] : piecesOf(rect, size, type, isZarr(spec.mapFormat))) {
    await writeChunk({ ...chunk, ...piece }, samplesOfPart(samples, type, rect, piece.rect));
  }
  if (preview) await writePreviewChunks(chunk, scratchUri(spec.out), bytes, item, result);
  return { source, size, rect, counted, bins: [...bins], ...(captured && { captured }) };
}
