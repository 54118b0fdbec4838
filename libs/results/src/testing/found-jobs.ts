import { type CaptureOptions, CaptureRule, type CaptureTime, captureText } from '@halogrid/sources/captured';
import { packSources } from '@halogrid/sources/pack-sources';
import { redactUri } from '@halogrid/sources/redact-uri';
import type { BlockSource } from '@halogrid/sources/source-block';
import fc from 'fast-check';
import { binsOfCell, binsOfSource, digestedBins, type HistogramShape } from '../counts/histogram-shape.ts';
import type { FeatureCell, FeatureSource } from '../features/feature-writer.ts';
import type { FoundShard } from '../parts/found-shard.ts';
import { noZone } from '../parts/found-shard.ts';
import type { PartPipeline } from '../parts/part-writer.ts';
import type { SourceLine } from '../sources/source-line.ts';
import { documentedDigest } from './documented-digest.ts';

/** A source of a job, and its result. */
export interface MadeSource {
  planned: BlockSource;
  /** Absent if the source is quarantined. */
  size?: { width: number; height: number };
  captured?: CaptureTime;
}

/** A job that is cut into shards, each of them in a part. All sources are settled. */
export interface MadeJob {
  pipelines: PartPipeline[];
  rule: CaptureOptions;
  sources: MadeSource[];
  /** Numbers of the sources with which shards begin. */
  firsts: number[];
  /** The part of each shard. */
  partOf: number[];
  /** The seed of the counts, and the largest count. */
  seed: number;
  largest: number;
}

const shape = (grid: HistogramShape['grid'], channels: number, bins: number): HistogramShape => ({
  grid,
  channels,
  bins,
});
const one = { rows: 1, columns: 1 };

/** Shapes for which pages have from 1024 sources down to a part of one source. */
const shapes: HistogramShape[] = [
  shape(one, 1, 0),
  shape(one, 1, 3),
  { ...shape(one, 2, 5), isNear: true },
  shape(one, 1, 2 ** 12),
  shape(one, 3, 2 ** 10),
  shape({ rows: 2, columns: 3 }, 1, 700),
  shape({ rows: 5, columns: 8 }, 1, 2 ** 11),
];

const text = fc.string({ unit: 'grapheme', maxLength: 12 });

const made = fc
  .record(
    {
      place: fc.constantFrom('file:///in/cam1/', 'file:///in/cam22/', 'https://user:secret@host/a/?signed='),
      text,
      name: text,
      sizeBytes: fc.nat(),
      version: fc.oneof(text, fc.constant('5 1700000000123.5')),
      video: fc.record({ frame: fc.nat(), timestampMs: fc.option(fc.double({ min: 0, max: 1e9, noNaN: true })) }),
      size: fc.record({ width: fc.integer({ min: 1, max: 9 }), height: fc.integer({ min: 1, max: 9 }) }),
      captured: fc.record(
        { localMs: fc.integer({ min: 0, max: 2e12 }), offsetMinutes: fc.integer({ min: -720, max: 720 }) },
        { requiredKeys: ['localMs'] },
      ),
    },
    { requiredKeys: ['place', 'text', 'name', 'sizeBytes', 'size'] },
  )
  .map((source) => structuredClone(source));

/** Any jobs with up to `mostSources` sources. */
export const anyMadeJob = (mostSources = 60): fc.Arbitrary<MadeJob> =>
  fc
    .record({
      shapes: fc.array(fc.constantFrom(...shapes), { minLength: 1, maxLength: 3 }),
      rule: fc.constantFrom(
        { from: '', zone: '' },
        { from: '', zone: 'Europe/Berlin' },
        { from: 'mtime', zone: '' },
        { from: 'cam{camera}/*', zone: '' },
      ),
      sources: fc.array(fc.tuple(made, fc.integer({ min: 0, max: 5 })), { maxLength: mostSources }),
      cuts: fc.array(fc.nat(mostSources), { maxLength: 8 }),
      parts: fc.array(fc.nat(2), { minLength: 9, maxLength: 9 }),
      seed: fc.nat(),
      largest: fc.constantFrom(3, 300, 2 ** 31 - 1, 2 ** 33),
    })
    .map(({ shapes: some, rule, sources, cuts, parts, seed, largest }) => {
      const firsts = [...new Set([0, ...cuts])].filter((first) => first < sources.length).sort((a, b) => a - b);
      return {
        pipelines: some.map((each, i) => ({ name: `p${i}`, shape: each })),
        rule,
        firsts,
        partOf: parts,
        seed,
        largest,
        sources: sources.map(([source, chance], index): MadeSource => {
          const { place, text: file, name, sizeBytes, version, video, size, captured } = source;
          const uri = place + encodeURIComponent(file);
          const more = { ...(version !== undefined && { version, pin: version }), ...(video && { video }) };
          const planned = { index, uri, name: `${index}-${name}`, sizeBytes, ...more };
          if (chance === 0) return { planned };
          // The image is large enough for any counts, also in one of forty cells.
          const factor = largest > 300 ? 2 ** 24 : 200;
          return {
            planned,
            size: { width: size.width * factor, height: size.height * factor },
            ...(captured && { captured }),
          };
        }),
      };
    });

/**
 * The counts of a pipeline in the cells of a source, with all channels. In a cell, all channels count the same number
 * of pixels.
 */
export function cellsOfSource({ seed, largest }: MadeJob, pipeline: PartPipeline, source: number): FeatureCell[] {
  const { grid, channels, bins } = pipeline.shape;
  let state = (seed ^ Math.imul(source + 1, 0x9e3779b1)) >>> 0;
  const next = (): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  return Array.from({ length: grid.rows * grid.columns }, () => {
    const histogram = new Float64Array(channels * bins);
    // A few bins have most counts of a cell, and some cells count nothing.
    const counted = next() < 0.1 ? 0 : Math.floor(next() * (largest + 1));
    for (let channel = 0; channel < channels; channel++) {
      for (let left = counted; left > 0 && bins > 0; ) {
        const count = next() < 0.2 ? left : Math.ceil(next() * left);
        histogram[channel * bins + Math.floor(next() * bins)]! += count;
        left -= count;
      }
    }
    return { counted, histogram };
  });
}

/** The shards of a job, with results as from a node. */
export function shardsOf(job: MadeJob): FoundShard[] {
  return job.firsts.map((first, i) => {
    const sources = job.sources.slice(first, job.firsts[i + 1]);
    const good = sources.flatMap((source, nth) => (source.size ? [{ ...source, size: source.size, nth }] : []));
    const isTimed = good.some(({ captured }) => captured);
    return {
      block: packSources(sources.map(({ planned }) => planned)),
      found: Uint32Array.from(good, ({ nth }) => nth),
      widths: Uint32Array.from(good, ({ size }) => size.width),
      heights: Uint32Array.from(good, ({ size }) => size.height),
      ...(isTimed && {
        captured: {
          localMs: Float64Array.from(good, ({ captured }) => captured?.localMs ?? Number.NaN),
          offsetMinutes: Int16Array.from(good, ({ captured }) => captured?.offsetMinutes ?? noZone),
        },
      }),
      parts: job.pipelines.map((pipeline) => {
        const cells = good.map(({ planned }) => cellsOfSource(job, pipeline, planned.index));
        const counts = new Float64Array(good.length * binsOfSource(pipeline.shape));
        for (const [cell, { histogram }] of cells.flat().entries()) {
          counts.set(histogram, cell * binsOfCell(pipeline.shape));
        }
        const isWide = counts.some((count) => count >= 2 ** 32);
        return { counted: Float64Array.from(cells, sumOfCells), bins: isWide ? counts : Uint32Array.from(counts) };
      }),
    };
  });
}

const sumOfCells = (cells: readonly FeatureCell[]): number => cells.reduce((sum, { counted }) => sum + counted, 0);

/** The time in the version of a local file, which consists of the size and the time of the last change. */
function changedAt(version = ''): CaptureTime | undefined {
  const [, ms] = /^\d+ (\d+)(?:\.\d+)?$/.exec(version) ?? [];
  return ms === undefined ? undefined : { localMs: Number(ms), offsetMinutes: 0 };
}

/** The expected outputs of a pipeline: a line per source, and the rows of the sources that were found. */
export function rowsOfJob(
  job: MadeJob,
  pipeline: PartPipeline,
): { lines: SourceLine[]; features: { facts: FeatureSource; cells: FeatureCell[] }[] } {
  const rule = new CaptureRule(job.rule);
  const lines: SourceLine[] = [];
  const features: { facts: FeatureSource; cells: FeatureCell[] }[] = [];
  for (const { planned, size, captured: stated } of job.sources) {
    const { index: number, uri, name, version, video } = planned;
    const captured = rule.isMtime ? changedAt(version) : stated;
    const source = redactUri(uri);
    const what = { uri: source, ...(version !== undefined && { version }), ...video };
    if (!size) {
      lines.push({ ...what, quarantined: true });
      continue;
    }
    const cells = cellsOfSource(job, pipeline, number);
    const counted = sumOfCells(cells);
    const bins = digestedBins(
      pipeline.shape,
      cells.flatMap(({ histogram }) => Array.from(histogram)),
    );
    const digest = documentedDigest(size.width, size.height, counted, bins).toString('hex');
    lines.push({ ...what, name, ...size, counted, digest, ...(captured && { captured: captureText(captured) }) });
    const { atMs, camera } = rule.of({ uri, video, captured });
    const { frame = 0, timestampMs = null } = video ?? {};
    features.push({ facts: { number, source, name, frame, timestampMs, capturedAtMs: atMs, camera }, cells });
  }
  return { lines, features };
}
