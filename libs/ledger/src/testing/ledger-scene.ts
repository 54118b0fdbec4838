// For tests: a job, its plan, the answers of nodes to its shards, and the expected results.

import type { Rect, Size } from '@halogrid/geometry';
import { firstOf, indexesOf } from '@halogrid/jobs/planned-sources';
import type { PlanStep, Shard } from '@halogrid/jobs/shard';
import { batchSteps, plannedSources, sourcesOf, type ToldSource } from '@halogrid/jobs/testing-planned';
import { cellsOf, createPipeline, cutTiles, type Grid, specifiedOperations } from '@halogrid/kernels';
import type { JobSpec } from '@halogrid/proto';
import { type HistogramShape, histogramShape } from '@halogrid/results/histogram-shape';
import { jobDigest } from '@halogrid/results/job-digest';
import { jobLine } from '@halogrid/results/job-line';
import { quarantinedDigest, sourceDigest } from '@halogrid/results/source-digest';
import type { JobRecord, Ledger, ShardCommit } from '../ledger/ledger.ts';
import { foundShard, keepPart, settledDigest, settledSources } from './memory-parts.ts';

export const epoch = 7;
export const jobId = 'job-1';
export const pipeline = createPipeline([{ kernel: 'lbp', parameters: {}, border: 'zero' }]);
export const operations = specifiedOperations(pipeline);
export const oneCell: Grid = { rows: 1, columns: 1 };
export const spec: JobSpec = {
  sources: ['file:///in'],
  pipeline: { operations },
  op: [],
  out: 'file:///out',
  mapFormat: 'none',
  tilePx: 0,
  batchFrames: 0,
  grid: oneCell,
};

/** The results that do not depend on how sources are cut into shards. */
export async function comparable(ledger: Ledger, grid: Grid) {
  const { job, counted, bins } = await ledger.results(jobId);
  const { frames, pixels, quarantined } = job.counts;
  const settled = await ledger.settled(jobId, 0, 99);
  const sources = [...settledSources(settled, [histogramShape(pipeline, grid)])];
  const outcomes = sources.map((source) => (source.state === 'done' ? source.size : source.error));
  const digest = settledDigest({ ...spec, grid }, settled);
  const counts = { sources: job.counts.sources, frames, pixels, quarantined };
  const { reasons, mended } = job;
  return { counts, outcomes, reasons, mended, counted, bins, histograms: await histogramsOf(ledger, grid), digest };
}

export async function histogramsOf(ledger: Ledger, grid: Grid): Promise<{ uri: string; bins: number[] }[]> {
  const settled = await ledger.settled(jobId, 0, 99);
  const all = settledSources(settled, [histogramShape(pipeline, grid)]);
  return [...all.flatMap((source) => (source.state === 'done' ? [{ uri: source.uri, bins: source.bins }] : []))];
}

/** The same results, computed from whole images without shards. */
export function expectedResults(
  sources: (Size & { fate: string })[],
  grid: Grid,
): Awaited<ReturnType<typeof comparable>> {
  const good = sources.filter(({ fate }) => fate === 'good');
  const bins = new BigUint64Array(pipeline.bins);
  const histograms: { uri: string; bins: number[] }[] = [];
  const digests = sources.map(({ fate, width, height }, source) => {
    if (fate !== 'good') return quarantinedDigest;
    const own = everyCell(grid, { width, height }).flatMap((cell) => binsOf(source, cell));
    histograms.push({ uri: `file:///in/${source}`, bins: own });
    for (const [i, count] of own.entries()) bins[i % bins.length]! += BigInt(count);
    return sourceDigest({ width, height }, width * height, own);
  });
  const pixels = good.reduce((sum, { width, height }) => sum + width * height, 0);
  return {
    counts: { sources: sources.length, frames: good.length, pixels, quarantined: sources.length - good.length },
    outcomes: sources.map(({ fate, width, height }, i) => (fate === 'good' ? { width, height } : `${i} is ${fate}`)),
    reasons: expectedReasons(sources),
    mended: expectedMended(sources),
    counted: BigInt(pixels),
    bins,
    histograms,
    digest: jobDigest(jobLine(pipeline, grid), digests),
  };
}

/** Errors that differ only in a number count as one reason. */
function expectedReasons(sources: readonly { fate: string }[]): JobRecord['reasons'] {
  const told = ['broken', 'unread'].flatMap((fate) => {
    const first = sources.findIndex((source) => source.fate === fate);
    const inputs = sources.filter((source) => source.fate === fate).length;
    const stage = fate === 'broken' ? 'decode' : 'read';
    return inputs > 0 ? [{ first, stage, error: `${first} is ${fate}`, inputs, example: `file:///in/${first}` }] : [];
  });
  if (told.length === 0) return undefined;
  return told.sort((a, b) => b.inputs - a.inputs || a.first - b.first).map(({ first: _, ...reason }) => reason);
}

/** Whether nodes remove bytes from the file of a source. */
const isMended = (source: number): boolean => source % 3 === 0;
const leftOut = 'Bytes were left out';

function expectedMended(sources: readonly { fate: string }[]): JobRecord['mended'] {
  const its = [...sources.keys()].filter((source) => sources[source]!.fate === 'good' && isMended(source));
  return its.length > 0 ? [{ mended: leftOut, inputs: its.length, example: `file:///in/${its[0]}` }] : undefined;
}

/** The mended sources of an answer. If an image is in tiles, only some of its tiles report it. */
function mendedOf(parts: readonly { source: number; rect: Rect }[]): Pick<ShardCommit, 'mended'> {
  const its = parts.filter(({ source, rect }) => isMended(source) && (rect.x + rect.y) % 2 === 0);
  if (its.length === 0) return {};
  const source = Math.min(...its.map((part) => part.source));
  return { mended: [{ mended: leftOut, sources: its.length, source }] };
}

/** Cells row by row, including empty ones. */
function everyCell({ rows, columns }: Grid, { width, height }: Size): Rect[] {
  return Array.from({ length: rows * columns }, (_, cell) => {
    const [row, column] = [Math.floor(cell / columns), cell % columns];
    const [x, y] = [Math.floor((column * width) / columns), Math.floor((row * height) / rows)];
    const right = Math.floor(((column + 1) * width) / columns);
    return { x, y, width: right - x, height: Math.floor(((row + 1) * height) / rows) - y };
  });
}

/**
 * Plans sources: a source larger than a tile is cut, the others are batched; the planner quarantines those in `unread`.
 * A batch is planned only when it is full, so that later sources may be planned before it.
 */
export function planOf(sizes: Size[], tilePx: number, batchFrames: number, unread = new Set<number>()): PlanStep[] {
  const steps: PlanStep[] = [];
  let shards = 0;
  const batch: ToldSource[] = [];
  const addBatch = (): unknown => steps.push(...batchSteps(shards++, batch.splice(0)));
  for (const [index, size] of sizes.entries()) {
    const tiles = unread.has(index) ? [] : [...cutTiles(size, tilePx)];
    // Some sources have no version, and some change between their listing and their planning.
    const version = index % 5 === 4 ? {} : { version: `${index} 17.25` };
    const pin = index % 3 === 2 ? `${index} 18.5` : version.version;
    const source: ToldSource = {
      index,
      uri: `file:///in/${index}`,
      ...version,
      ...(pin !== undefined && { pin }),
      size: { width: size.width, height: size.height },
    };
    if (tiles.length === 0) {
      const error = { stage: 'read', error: `${index} is unread` };
      steps.push({ kind: 'sources', sources: plannedSources([{ ...source, error }]) });
    } else if (tiles.length === 1) {
      batch.push(source);
      if (batch.length === batchFrames) addBatch();
    } else {
      const sources = plannedSources([{ ...source, tiles: tiles.length }]);
      steps.push({ kind: 'sources', sources });
      for (const rect of tiles) {
        const work = { kind: 'tile' as const, sources, size: { width: size.width, height: size.height }, rect };
        steps.push({ kind: 'shard', shard: { shard: shards++, work, costBytes: 1 } });
      }
    }
  }
  if (batch.length > 0) addBatch();
  return steps;
}

/** A node's answer to a shard of a plan, with errors for the sources in `broken`. */
export const commitOf = (shard: Shard, steps: PlanStep[], broken = new Set<number>(), grid = oneCell): ShardCommit =>
  asSent(resultsOf(shard, steps, broken, grid), shard, [histogramShape(pipeline, grid)]);

/** The same answer with the results of frames in a part. */
export function asSent(commit: ShardCommit, { work }: Shard, shapes: readonly HistogramShape[]): ShardCommit {
  if (work.kind === 'tile') return commit;
  return { ...commit, results: [], found: keepPart(shapes, foundShard(work.sources.block, commit.results, shapes)) };
}

/** A node's answer to a shard, with results also for frames. */
export function resultsOf(
  { shard, work }: Shard,
  steps: PlanStep[],
  broken = new Set<number>(),
  grid = oneCell,
): ShardCommit {
  const sizes = sourcesOf(steps).map(({ size }) => size!);
  const wholeOf = (index: number): { source: number; size: Size; rect: Rect } => {
    const size = sizes[index]!;
    return { source: index, size, rect: { x: 0, y: 0, ...size } };
  };
  const parts =
    work.kind === 'tile'
      ? [{ source: firstOf(work.sources), size: work.size, rect: work.rect }]
      : indexesOf(work).map(wholeOf);
  const results = parts
    .filter(({ source }) => !broken.has(source))
    .map((part) => {
      const { source, size, rect } = part;
      const bins = cellsOf(grid, size, rect).flatMap((cell) => binsOf(source, cell.rect));
      return { ...part, counted: rect.width * rect.height, bins };
    });
  return {
    jobId,
    shard,
    attempt: 1,
    epoch,
    node: { name: 'node', device: 'cpu' },
    results,
    ...mendedOf(parts.filter(({ source }) => !broken.has(source))),
    errors: parts
      .filter(({ source }) => broken.has(source))
      .map(({ source }) => ({ source, stage: 'decode', error: `${source} is broken` })),
    stageSeconds: {},
    inputBytes: 0,
  };
}

/** Made-up counts for a rectangle of source `index`. */
export function binsOf(index: number, { x, y, width, height }: Rect): number[] {
  const bins = new Array<number>(pipeline.bins).fill(0);
  for (let row = y; row < y + height; row++) {
    for (let column = x; column < x + width; column++) bins[(31 * index + 17 * row + 5 * column) % bins.length]!++;
  }
  return bins;
}

export function shardsOf(steps: PlanStep[]): Shard[] {
  return steps.flatMap((step) => (step.kind === 'shard' ? [step.shard] : []));
}
