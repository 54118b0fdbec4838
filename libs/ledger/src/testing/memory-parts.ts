// For tests: parts of jobs in memory, which outlive the ledgers that name them.
import { randomUUID } from 'node:crypto';
import type { Size } from '@halogrid/geometry';
import { jobGrid, jobParts, jobPipelines } from '@halogrid/jobs/accepted-job';
import type { SourceResult } from '@halogrid/jobs/shard';
import type { JobSpec } from '@halogrid/proto';
import { type FoundShard, noZone, shardRows, summariseShard } from '@halogrid/results/found-shard';
import { allCells, binsOfSource, type HistogramShape, histogramShape } from '@halogrid/results/histogram-shape';
import { digestOfAll, jobDigest } from '@halogrid/results/job-digest';
import { jobLine } from '@halogrid/results/job-line';
import type { FoundInPart } from '@halogrid/results/part-writer';
import { quarantinedDigest, type SourceDigest } from '@halogrid/results/source-digest';
import { SourceBlock } from '@halogrid/sources/source-block';
import type { WritePart } from '../job/logged-job.ts';
import type { QuarantinedRow, SettledSources } from '../ledger/ledger.ts';

/** A source that is settled. */
export type SettledSource =
  | ({ state: 'quarantined' } & QuarantinedRow)
  | { state: 'done'; index: number; uri: string; size: Size; counted: number; bins: number[]; digest: SourceDigest };

export const shapesOf = (spec: JobSpec): HistogramShape[] =>
  jobPipelines(spec).map((pipeline) => histogramShape(pipeline, jobGrid(spec)));

const written = new Map<string, FoundShard>();
const nowhere = { firstGroup: 0, groups: 1, start: 0, length: 0, checksum: 0 };

/** Stores the results of a shard as a part; returns them in the form of a node's answer. */
export function keepPart(shapes: readonly HistogramShape[], shard: FoundShard): FoundInPart {
  const part = randomUUID();
  written.set(part, shard);
  const places = shapes.map(({ bins }) => ({ sources: nowhere, ...(bins > 0 && { features: nowhere }) }));
  return { ...summariseShard(shard, shapes), part, places };
}

export const memoryParts = (spec: JobSpec): WritePart => {
  const shapes = shapesOf(spec);
  return async (found) => found.map((shard) => keepPart(shapes, shard));
};

/** Results of the whole frames of a block, for each pipeline in turn, as a node finds them. */
export function foundShard(
  block: Uint8Array,
  results: readonly SourceResult[],
  shapes: readonly HistogramShape[],
): FoundShard {
  const sources = new SourceBlock(block);
  const byPart = shapes.map((_, part) => {
    const its = results.filter(({ pipeline = 0 }) => pipeline === part);
    return its.sort((a, b) => a.source - b.source);
  });
  const [first = []] = byPart;
  const places = new Map(Array.from({ length: sources.length }, (_, nth) => [sources.index(nth), nth]));
  return {
    block,
    found: Uint32Array.from(first, ({ source }) => places.get(source)!),
    widths: Uint32Array.from(first, ({ size }) => size.width),
    heights: Uint32Array.from(first, ({ size }) => size.height),
    ...(first.some(({ captured }) => captured) && {
      captured: {
        localMs: Float64Array.from(first, ({ captured }) => captured?.localMs ?? Number.NaN),
        offsetMinutes: Int16Array.from(first, ({ captured }) => captured?.offsetMinutes ?? noZone),
      },
    }),
    parts: byPart.map((its, part) => {
      const shape = shapes[part]!;
      const bins = new Uint32Array(its.length * binsOfSource(shape));
      for (const [row, { size, bins: own }] of its.entries()) {
        bins.set(allCells(shape, size, Uint32Array.from(own)), row * binsOfSource(shape));
      }
      return { counted: Float64Array.from(its, ({ counted }) => counted), bins };
    }),
  };
}

/** Settled sources one by one, with a pipeline's results. */
export function* settledSources(
  { runs }: Pick<SettledSources, 'runs'>,
  shapes: readonly HistogramShape[],
  part = 0,
): Generator<SettledSource, undefined> {
  for (const run of runs) {
    if (run.kind === 'quarantined') {
      for (const source of run.sources) yield { state: 'quarantined', ...source };
      continue;
    }
    const shard = written.get(run.found.part)!;
    const block = new SourceBlock(shard.block);
    const { nth: from } = run.planned;
    for (const { part: of, nth, found } of shardRows(shard, block, shapes)) {
      if (of !== part || !found || nth < from || nth >= from + run.count) continue;
      const { size, counted, bins, digest } = found;
      yield {
        state: 'done',
        index: block.index(nth),
        uri: block.uri(nth),
        size: { ...size },
        counted,
        bins: [...bins],
        digest,
      };
    }
  }
  return undefined;
}

/** The digest of a job all of whose sources are settled. */
export function settledDigest(spec: JobSpec, settled: Pick<SettledSources, 'runs'>): string {
  const shapes = shapesOf(spec);
  const grid = jobGrid(spec);
  const digests = jobParts(spec).map(({ name, pipeline }, part) => {
    const sources = settledSources(settled, shapes, part).map((source) =>
      source.state === 'done' ? source.digest : quarantinedDigest,
    );
    return { name, digest: jobDigest(jobLine(pipeline, grid), sources) };
  });
  return spec.pipelines ? digestOfAll(digests) : digests[0]!.digest;
}
