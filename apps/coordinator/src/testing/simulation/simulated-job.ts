import type { AcceptedJob } from '@halogrid/jobs/accepted-job';
import type { PlannedSources } from '@halogrid/jobs/planned-sources';
import { previewSources } from '@halogrid/jobs/preview-choice';
import type { PlanStep, Shard, ShardAnswer, SourceError, SourceResult } from '@halogrid/jobs/shard';
import { plannedSources } from '@halogrid/jobs/testing-planned';
import { createPipeline } from '@halogrid/kernels';
import { foundShard, keepPart, shapesOf } from '@halogrid/ledger/testing-memory-parts';
import { JobSpec } from '@halogrid/proto';
import { summariseShard } from '@halogrid/results/found-shard';
import { digestOfAll, jobDigest } from '@halogrid/results/job-digest';
import { jobLine } from '@halogrid/results/job-line';
import { quarantinedDigest, sourceDigest } from '@halogrid/results/source-digest';

/** The properties of a simulated job: frames, in shards of `group` frames, or images in `group` tiles of 4 x 4. */
export interface SimulatedJob {
  jobId: string;
  kind: 'frames' | 'tiles';
  shards: number;
  /** Frames per shard, or tiles per image. */
  group: number;
  /** The cost of every shard. */
  costBytes: number;
  /** How many folders its sources are in, in turn. */
  roots: number;
  /** Whether each of these is on a host of its own. */
  onHosts?: boolean;
  /** How many pipelines it has; they have names if there is more than one. */
  pipelines: number;
  waitsForNode: boolean;
  priority: number;
  verifyPercent: number;
  /** Shards of frames that are kept from an earlier output in the folder: no node computes them. */
  kept: ReadonlySet<number>;
  /** Shards that no device computes. */
  poison: ReadonlySet<number>;
  /** Shards that end the process that computes them. */
  killers: ReadonlySet<number>;
  /** Shards whose input differs from the planned one. */
  changed: ReadonlySet<number>;
}

/** Pipelines with these have the same number of bins. */
const conventions = ['nw-cw-msb', 'nw-cw-lsb', 'scikit-image'];
export const mostPipelines = conventions.length;

const operationsOf = (part: number) => [{ kernel: 'lbp', parameters: { convention: conventions[part]! } }];
const nameOf = (part: number): string => `part-${part}`;
const partsOf = ({ pipelines }: SimulatedJob): number[] => Array.from({ length: pipelines }, (_, part) => part);

/** The version of every source. */
const listed = 'listed';

const side = 4;
export const binCount = 256;

export const rootOf = ({ jobId, onHosts }: Pick<SimulatedJob, 'jobId' | 'onHosts'>, root: number): string =>
  onHosts ? `http://${jobId}-${root}` : `file:///in/${jobId}/${root}`;

export function acceptedJob(job: SimulatedJob): AcceptedJob {
  const { jobId, roots, waitsForNode, priority, verifyPercent } = job;
  const named = partsOf(job).map((part) => ({ name: nameOf(part), pipeline: { operations: operationsOf(part) } }));
  const spec = JobSpec.fromPartial({
    sources: Array.from({ length: roots }, (_, root) => rootOf(job, root)),
    ...(named.length > 1 ? { pipelines: { named } } : { pipeline: { operations: operationsOf(0) } }),
    out: `file:///out/${jobId}`,
    mapFormat: 'none',
    priority,
    waitForNode: waitsForNode,
    verifyPercent,
  });
  return { jobId, spec, pipeline: createPipeline(operationsOf(0)), scratch: `${spec.out}/.scratch` };
}

/** The plan of a job, as the planning thread would make it. */
export async function* planOf(job: SimulatedJob): AsyncGenerator<PlanStep[]> {
  for (let shard = 0; shard < job.shards; shard++) {
    const work = workOf(job, shard);
    const costBytes = work.kind === 'kept' ? 0 : job.costBytes;
    const steps: PlanStep[] = [{ kind: 'shard', shard: { shard, work, costBytes } }];
    const isFirst = job.kind === 'frames' || shard % job.group === 0;
    yield isFirst ? [{ kind: 'sources', sources: work.sources }, ...steps] : steps;
  }
}

const uriOf = (job: SimulatedJob, source: number): string => `${rootOf(job, source % job.roots)}/${source}.pgm`;

/** Indexes of the sources that a shard reads. */
function sourcesOf({ kind, group }: SimulatedJob, shard: number): number[] {
  if (kind === 'tiles') return [Math.floor(shard / group)];
  return Array.from({ length: group }, (_, i) => shard * group + i);
}

function workOf(job: SimulatedJob, shard: number): Shard['work'] {
  const sources = plannedOf(job, shard);
  if (job.kept.has(shard)) return { kind: 'kept', sources, earlier: [shard, shard, sources.count] };
  // An image of one tile is a frame.
  return tilesOf(job, shard) === 1 ? { kind: 'frames', sources } : { kind: 'tile', sources, ...tileOf(job, shard) };
}

function plannedOf(job: SimulatedJob, shard: number): PlannedSources {
  const count = tilesOf(job, shard);
  const tiles = count === 1 ? {} : { tiles: count };
  return plannedSources(
    sourcesOf(job, shard).map((index) => {
      const its = { index, uri: uriOf(job, index), name: String(index), version: listed, pin: listed };
      // A few sources get a preview, which must be written.
      const kept = job.kept.has(shard) && { kept: `then-${index}` };
      return { ...its, ...tiles, ...kept, ...(index < previewSources && { preview: true as const }) };
    }),
  );
}

/** How many tiles the source of a shard has; 1 for frames. */
const tilesOf = ({ kind, group, shards }: SimulatedJob, shard: number): number =>
  kind === 'frames' ? 1 : Math.min(group, shards - (shard - (shard % group)));

function tileOf(job: SimulatedJob, shard: number) {
  const first = shard - (shard % job.group);
  const size = { width: side * tilesOf(job, shard), height: side };
  return { size, rect: { x: side * (shard - first), y: 0, width: side, height: side } };
}

/** The results of a right device. Every result differs from its neighbours', so that none can stand for another. */
export function resultsOf(job: SimulatedJob, shard: number): SourceResult[] {
  return sourcesOf(job, shard).flatMap((source) => {
    const size = { width: side, height: side };
    const area = job.kind === 'tiles' ? tileOf(job, shard) : { size, rect: { x: 0, y: 0, ...size } };
    const value = job.kind === 'tiles' ? shard : source;
    return partsOf(job).map((pipeline) => {
      const bins = new Array<number>(binCount).fill(0);
      bins[(value + 31 * pipeline) % binCount]! += 9;
      bins[(value * 7 + 3) % binCount]! += 4 - pipeline;
      return { source, ...area, counted: 13 - pipeline, bins, ...(pipeline > 0 && { pipeline }) };
    });
  });
}

/** The results of a wrong device. They look right; with several pipelines, only the last one is wrong. */
export function wrongResultsOf(job: SimulatedJob, shard: number): SourceResult[] {
  return resultsOf(job, shard).map((result) => {
    const isRight = (result.pipeline ?? 0) + 1 < job.pipelines;
    const bins = Array.from(result.bins);
    return isRight ? result : { ...result, bins: [...bins.slice(1), bins[0]!] };
  });
}

/**
 * The results of any device for an image that was replaced by a larger one, or a frame that was replaced by a smaller
 * one.
 */
export function changedResultsOf(job: SimulatedJob, shard: number): SourceResult[] {
  return resultsOf(job, shard).map((result) => {
    if (job.kind === 'frames') return { ...result, size: { ...result.size, height: 1 } };
    return { ...result, rect: { ...result.rect, y: result.rect.y + side } };
  });
}

/** An answer with these results, which are in a part unless they only verify. */
export function answerOf(
  job: SimulatedJob,
  shard: number,
  { results, errors, verify }: { results: SourceResult[]; errors: SourceError[]; verify: boolean },
): ShardAnswer {
  const rest = { errors, stageSeconds: {}, inputBytes: 0 };
  const work = workOf(job, shard);
  if (work.kind === 'tile') return { results, ...rest };
  const shapes = shapesOf(acceptedJob(job).spec);
  const found = foundShard(work.sources.block, results, shapes);
  return { results: [], found: verify ? summariseShard(found, shapes) : keepPart(shapes, found), ...rest };
}

/** Shards that no node can compute. */
export function hopelessShards({ poison, killers, changed, kept }: SimulatedJob): Set<number> {
  return new Set([...poison, ...killers, ...changed].filter((shard) => !kept.has(shard)));
}

/** The expected result of a pipeline. */
export interface ExpectedPart {
  counted: bigint;
  bins: bigint[];
}

/** The expected result of a job, computed without the coordinator's merge. */
export function expectedOf(job: SimulatedJob): { digest: string; quarantined: number; parts: ExpectedPart[] } {
  const results = Array.from({ length: job.shards }, (_, shard) => resultsOf(job, shard));
  const hopeless = hopelessShards(job);
  const lost = new Set([...hopeless].flatMap((shard) => results[shard]!.map(({ source }) => source)));
  const each = partsOf(job).map((part) => {
    const its = results.flat().filter(({ pipeline = 0 }) => pipeline === part);
    return expectedPart(its, lost, jobLine(createPipeline(operationsOf(part)), { rows: 1, columns: 1 }));
  });
  const digests = each.map(({ digest }, part) => ({ name: nameOf(part), digest }));
  const parts = each.map(({ counted, bins }) => ({ counted, bins }));
  return { digest: parts.length > 1 ? digestOfAll(digests) : each[0]!.digest, quarantined: lost.size, parts };
}

function expectedPart(
  results: readonly SourceResult[],
  lost: ReadonlySet<number>,
  line: string,
): ExpectedPart & { digest: string } {
  const total = { counted: 0n, bins: new Array<bigint>(binCount).fill(0n) };
  const digests = [...Map.groupBy(results, ({ source }) => source)].map(([source, parts]) => {
    if (lost.has(source)) return quarantinedDigest;
    const bins = new Array<number>(binCount).fill(0);
    for (const part of parts) for (let i = 0; i < binCount; i++) bins[i]! += part.bins[i]!;
    const counted = parts.reduce((sum, part) => sum + part.counted, 0);
    total.counted += BigInt(counted);
    for (let i = 0; i < binCount; i++) total.bins[i]! += BigInt(bins[i]!);
    return sourceDigest(parts[0]!.size, counted, bins);
  });
  return { ...total, digest: jobDigest(line, digests) };
}
