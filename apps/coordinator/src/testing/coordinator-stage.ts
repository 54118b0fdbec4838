// For tests: a running coordinator, jobs for it, and the answers of a node.
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { credentials, type ServiceError } from '@grpc/grpc-js';
import { openImage } from '@halogrid/imaging';
import { mapType } from '@halogrid/jobs/map-type';
import type { SourceResult } from '@halogrid/jobs/shard';
import { createPipeline, placeItem, planPipeline, runReference } from '@halogrid/kernels';
import { foundShard } from '@halogrid/ledger/testing-memory-parts';
import {
  type FoundAnswer,
  type FoundInPart,
  type FoundResult,
  JobSpec,
  type JobStatus,
  JobsClient,
  type Lease,
  type ListRequest,
  type ListResponse,
  type Pipeline,
  type SourceError,
  splitAnswer,
} from '@halogrid/proto';
import { readOptions } from '@halogrid/proto/read-options';
import { summariseShard } from '@halogrid/results/found-shard';
import { histogramShape } from '@halogrid/results/histogram-shape';
import { PartWriter } from '@halogrid/results/part-writer';
import { partsFolder } from '@halogrid/results/shard-place';
import { createLog } from '@halogrid/service/log';
import { timeoutMs, within } from '@halogrid/testing';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { type CoordinatorConfig, type CoordinatorOptions, createCoordinatorConfig } from '../config.ts';
import { type RunningCoordinator, startCoordinator } from '../coordinator.ts';
import type { ScriptedNode } from '../services/testing/scripted-node.ts';
import { leasedSources } from './leased-sources.ts';
import { writePreviewChunks } from './preview-chunks.ts';

export interface Stage {
  coordinator: RunningCoordinator;
  jobs: JobsClient;
  folder: string;
}

interface StageToStop extends Stage {
  /** May be called again. */
  stop(): Promise<void>;
}

/**
 * The configuration of a coordinator on free ports. It plans on its main thread unless `plansOnThread`: starting and
 * ending a thread takes 400 ms of a core, everything else of a coordinator 40 (measured). A scripted node may be silent
 * for long.
 */
export function testConfig(options: CoordinatorOptions = {}, plansOnThread = false): CoordinatorConfig {
  const nodeTimeoutMs = Math.min(600_000, timeoutMs(60_000));
  const free = { listen: '127.0.0.1:0', http: '127.0.0.1:0', ledger: 'memory', nodeTimeoutMs };
  return { ...createCoordinatorConfig({ ...free, ...options }), plansOnThread: plansOnThread ? 'all' : 'foreign' };
}

/** A coordinator with this configuration, its client, and a folder; all are gone when the test ends. */
export async function setStage(t: TestContext, config = testConfig()): Promise<Stage> {
  const { start } = await setStages(t, () => config);
  const { stop: _, ...stage } = await start();
  return stage;
}

/**
 * A folder, and coordinators that are started one after another, by default with the ledger in it. At the end of the
 * test they stop first: one whose ledger is removed never records the end of a job, and does not stop either.
 */
export async function setStages(
  t: TestContext,
  configIn = (folder: string) => testConfig({ ledger: join(folder, 'ledger.sqlite') }),
): Promise<{ folder: string; start: () => Promise<StageToStop> }> {
  const folder = await mkdtemp(join(tmpdir(), 'halogrid-coordinator-'));
  const started: StageToStop[] = [];
  t.after(async () => {
    for (const { stop } of started) await stop();
    await rm(folder, { recursive: true, force: true });
  });
  const start = async () => {
    const stage = await startStage(folder, configIn(folder));
    started.push(stage);
    return stage;
  };
  return { folder, start };
}

async function startStage(folder: string, config: CoordinatorConfig): Promise<StageToStop> {
  const coordinator = (await startCoordinator(config, createLog('test', 'silent')))!;
  const jobs = new JobsClient(`127.0.0.1:${coordinator.grpcPort}`, credentials.createInsecure());
  const stop = () => {
    jobs.close();
    return within('the coordinator to stop', coordinator.close());
  };
  return { coordinator, jobs, folder, stop };
}

/** Writes gray images of 7 x 5 pixels and returns their URIs. */
export async function writeImages(folder: string, count: number): Promise<string[]> {
  const uris: string[] = [];
  for (let i = 0; i < count; i++) {
    const pixels = Uint8Array.from({ length: 35 }, (_, p) => (p * p * (i + 3)) % 251);
    const path = join(folder, `image-${i}.pgm`);
    await writeFile(path, Buffer.concat([Buffer.from('P5\n7 5\n255\n'), pixels]));
    uris.push(pathToFileURL(path).href);
  }
  return uris;
}

export function specOf(folder: string, sources: string[], more: Partial<JobSpec> = {}): JobSpec {
  const pipeline = { operations: [{ kernel: 'lbp', parameters: {}, border: '' }] };
  const out = pathToFileURL(join(folder, 'out')).href;
  return JobSpec.fromPartial({ sources, pipeline, out, mapFormat: 'none', batchFrames: 1, ...more });
}

export const submit = (jobs: JobsClient, spec: JobSpec | undefined, nameOutByJob = false): Promise<JobStatus> =>
  new Promise((resolve, reject) => {
    jobs.submit({ spec, nameOutByJob }, (error, response) => (error ? reject(error) : resolve(response.job!)));
  });

export const get = (jobs: JobsClient, jobId: string): Promise<JobStatus> =>
  new Promise((resolve, reject) => {
    jobs.get({ jobId }, (error, response) => (error ? reject(error) : resolve(response.job!)));
  });

export const cancel = (jobs: JobsClient, jobId: string): Promise<JobStatus> =>
  new Promise((resolve, reject) => {
    jobs.cancel({ jobId }, (error, response) => (error ? reject(error) : resolve(response.job!)));
  });

export const list = (jobs: JobsClient, request: ListRequest): Promise<ListResponse> =>
  new Promise((resolve, reject) => {
    jobs.list(request, (error, response) => (error ? reject(error) : resolve(response)));
  });

/** Watches the job to its end; resolves with every message. */
export async function watchToEnd(jobs: JobsClient, jobId: string): Promise<JobStatus[]> {
  const messages: JobStatus[] = [];
  const call = jobs.watch({ jobId });
  call.on('data', ({ job }) => messages.push(job));
  await within(`the end of job ${jobId}`, once(call, 'end'));
  return messages;
}

/** The results of one pipeline for the shard; their chunks go to the scratch folder. */
async function resultsOf(lease: Lease, { operations }: Pipeline, scratch: string): Promise<FoundResult[]> {
  const pipeline = createPipeline(operations);
  const work = lease.work!;
  const results: FoundResult[] = [];
  for (const source of leasedSources(lease)) {
    const image = await openImage(source.uri, readOptions(lease));
    const size = { width: image.width, height: image.height };
    const rect = work.$case === 'tile' ? work.value.rect! : { x: 0, y: 0, ...size };
    const plan = planPipeline(pipeline, rect, size, lease.grid);
    const { item, end } = placeItem(plan, pipeline.input.length, 0);
    const bytes = new Uint8Array(end);
    for (const { from, to } of plan.copies) {
      const offset = item.offset + to.y * item.stride + to.x;
      await image.decode(from, { ...item, bytes, offset, channels: 'gray' });
    }
    await image.close();
    const result = runReference(pipeline, bytes, item, true);
    const { counted, bins } = result;
    const type = mapType(pipeline.output);
    const chunk = { scratch, source: source.index, size, type, rect };
    if (source.preview) await writePreviewChunks(chunk, lease.scratch, bytes, item, result);
    results.push({ source: source.index, ...size, rect, counted, bins });
  }
  return results;
}

const oneCell = { rows: 1, columns: 1 };

/** Bytes of counts in a message: small, so that an answer of 256 small counts has several messages. */
const countsBytes = 100;

/** Computes the shard as a node does, with the CPU twin, and sends the answer in several messages. */
export async function complete(node: ScriptedNode, lease: Lease): Promise<void> {
  for (const report of splitAnswer(await answerOf(lease), countsBytes)) node.say(report);
}

/** As `complete`, for a shard without any readable source. */
export async function refuse(node: ScriptedNode, lease: Lease, errors: SourceError[]): Promise<void> {
  for (const report of splitAnswer(await answerTo(lease, [], errors))) node.say(report);
}

/** The answer of a node to a shard, with the CPU twin. */
export async function answerOf(lease: Lease): Promise<FoundAnswer> {
  const results: FoundResult[] = [];
  if (!lease.pipelines) results.push(...(await resultsOf(lease, lease.pipeline!, lease.scratch)));
  for (const [i, { name, pipeline }] of (lease.pipelines?.named ?? []).entries()) {
    const its = await resultsOf(lease, pipeline!, `${lease.scratch}/pipelines/${name}`);
    results.push(...its.map((result) => ({ ...result, pipeline: i })));
  }
  return answerTo(lease, results, []);
}

async function answerTo(lease: Lease, results: FoundResult[], errors: SourceError[]): Promise<FoundAnswer> {
  const { jobId, shard, attempt, epoch } = lease;
  return {
    jobId,
    shard,
    attempt,
    epoch,
    ...(lease.work!.$case === 'frames' ? { results: [], found: await writeFound(lease, results) } : { results }),
    errors,
    stageSeconds: { decode: 0.25 },
    busySeconds: {},
    inputBytes: 46,
  };
}

/** Writes a part with results of frames, as a node does; a lease to verify writes none. */
async function writeFound(lease: Lease, results: readonly FoundResult[]): Promise<FoundInPart> {
  const named = lease.pipelines?.named ?? [{ name: '', pipeline: lease.pipeline }];
  const pipelines = named.map(({ name, pipeline }) => {
    return { name, shape: histogramShape(createPipeline(pipeline!.operations), lease.grid ?? oneCell) };
  });
  const shapes = pipelines.map(({ shape }) => shape);
  const found = results.map(({ width, height, ...result }): SourceResult => {
    return { ...result, size: { width, height }, rect: result.rect! };
  });
  const shard = foundShard(lease.sources, found, shapes);
  if (lease.verify) return { ...summariseShard(shard, shapes), places: [] };
  const writer = await PartWriter.create(join(fileURLToPath(lease.scratch), partsFolder), pipelines, lease.captured);
  const written = await writer.add(shard);
  await writer.finish();
  return written;
}

export async function readFeatures(folder: string) {
  const rows = await parquetReadObjects({ file: await asyncBufferFromFile(join(folder, 'out', 'features.parquet')) });
  return rows as { source: string; cell_row: number; cell_col: number; counted: bigint; histogram: number[] }[];
}

export async function metricsOf({ coordinator }: Stage): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${coordinator.httpPort}/metrics`);
  return response.text();
}

/** The error with which a call ends. */
export async function refusalOf(call: Promise<unknown>): Promise<{ code: number; details: string }> {
  try {
    await call;
  } catch (error) {
    const { code, details } = error as ServiceError;
    return { code, details };
  }
  throw new Error('Expected a refusal but the call succeeded');
}
