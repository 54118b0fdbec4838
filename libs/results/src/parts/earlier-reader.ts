import { parseCapture } from '@halogrid/sources/capture-time';
import type { CaptureTime } from '@halogrid/sources/captured';
import { redactUri } from '@halogrid/sources/redact-uri';
import { SourceBlock } from '@halogrid/sources/source-block';
import { binsOfSource } from '../counts/histogram-shape.ts';
import { SourceList } from '../sources/source-list.ts';
import { EarlierCounts, type EarlierPipeline } from './earlier-counts.ts';
import { alteredEarlier, type EarlierRuns } from './earlier-runs.ts';
import { type FoundShard, noZone } from './found-shard.ts';

/** Sources whose results are kept from an earlier output. */
export interface EarlierShard {
  /** The sources, as SourceBlock reads them. */
  block: Uint8Array;
  /** The places of the sources in the earlier output. */
  earlier: EarlierRuns;
}

interface OpenPipeline extends EarlierPipeline {
  list: SourceList;
  counts: EarlierCounts;
}

/** Sources of a shard that are consecutive in the output. */
interface Run {
  shard: number;
  /** The place of the first source in the shard. */
  nth: number;
  count: number;
  /** The number of the first source in the output. */
  source: number;
  doneBefore: number;
}

/** Reads the results of sources from the output of an earlier job, and checks them against their digests. */
export class EarlierReader {
  readonly #pipelines: readonly EarlierPipeline[];
  #opened: Promise<OpenPipeline[]> | undefined;

  constructor(pipelines: readonly EarlierPipeline[]) {
    this.#pipelines = pipelines;
  }

  /**
   * The results of all sources of these shards. Files are read from front to end, whatever the order of the sources.
   * Rejects with one sentence if a result does not match its digest.
   */
  async read(shards: readonly EarlierShard[]): Promise<FoundShard[]> {
    this.#opened ??= Promise.all(this.#pipelines.map(openPipeline));
    const pipelines = await this.#opened;
    const blocks = shards.map(({ block }) => new SourceBlock(block));
    const runs = shards.flatMap(({ earlier }, shard) => [...runsOf(shard, earlier)]);
    runs.sort((a, b) => a.source - b.source);
    const found = shards.map(({ block }, i) => emptyShard(block, blocks[i]!, pipelines));
    for (const part of pipelines.keys()) {
      for (const run of runs) await readRun(pipelines[part]!, run, blocks[run.shard]!, found[run.shard]!, part);
    }
    return found.map(withoutTimes);
  }
}

type FoundTimes = FoundShard & Required<Pick<FoundShard, 'captured'>>;

async function openPipeline(pipeline: EarlierPipeline): Promise<OpenPipeline> {
  const list = await SourceList.open(pipeline.folder);
  const counts = await EarlierCounts.open(pipeline);
  if (!list || !counts) throw new Error(`The earlier results in '${pipeline.folder}' are not there any more`);
  return { ...pipeline, list, counts };
}

function* runsOf(shard: number, earlier: EarlierRuns): Generator<Run> {
  let nth = 0;
  for (let i = 0; i < earlier.length; i += 3) {
    const [source, doneBefore, count] = [earlier[i]!, earlier[i + 1]!, earlier[i + 2]!];
    yield { shard, nth, count, source, doneBefore };
    nth += count;
  }
}

function emptyShard(block: Uint8Array, sources: SourceBlock, pipelines: readonly EarlierPipeline[]): FoundTimes {
  const { length } = sources;
  const sizes = Array.from({ length }, (_, nth) => sources.size(nth)!);
  return {
    block,
    found: Uint32Array.from({ length }, (_, nth) => nth),
    widths: Uint32Array.from(sizes, ({ width }) => width),
    heights: Uint32Array.from(sizes, ({ height }) => height),
    captured: { localMs: new Float64Array(length).fill(Number.NaN), offsetMinutes: new Int16Array(length) },
    parts: pipelines.map(({ shape }) => ({
      counted: new Float64Array(length),
      bins: new Float64Array(length * binsOfSource(shape)),
    })),
  };
}

async function readRun(
  { folder, list, counts }: OpenPipeline,
  { nth: from, count, source, doneBefore }: Run,
  block: SourceBlock,
  { widths, heights, captured, parts }: FoundTimes,
  part: number,
): Promise<void> {
  const { counted, bins } = parts[part]!;
  const each = counts.bins;
  await counts.read(doneBefore, count, block.uri(from), bins.subarray(from * each, (from + count) * each));
  for (let nth = from; nth < from + count; nth++) {
    const line = await list.line(source + nth - from);
    const uri = redactUri(block.uri(nth));
    const isSame =
      !line.quarantined &&
      line.uri === uri &&
      line.frame === block.video(nth)?.frame &&
      line.name === block.kept(nth) &&
      line.width === widths[nth] &&
      line.height === heights[nth] &&
      counts.isOf(line, bins.subarray(nth * each, (nth + 1) * each));
    if (!isSame) throw alteredEarlier(uri, folder);
    counted[nth] = line.counted;
    if (part === 0 && line.captured !== undefined) setTime(captured!, nth, parseCapture(line.captured));
  }
}

function setTime(
  { localMs, offsetMinutes }: NonNullable<FoundShard['captured']>,
  nth: number,
  time: CaptureTime | undefined,
): void {
  if (!time) return;
  localMs[nth] = time.localMs;
  offsetMinutes[nth] = time.offsetMinutes ?? noZone;
}

function withoutTimes({ captured, ...shard }: FoundTimes): FoundShard {
  return captured!.localMs.every(Number.isNaN) ? shard : { ...shard, captured };
}
