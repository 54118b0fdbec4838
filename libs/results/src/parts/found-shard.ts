import { createHash } from 'node:crypto';
import type { Size } from '@halogrid/geometry';
import type { CaptureTime } from '@halogrid/sources/captured';
import { SourceBlock } from '@halogrid/sources/source-block';
import { binsOfCell, binsOfSource, digestedBins, type HistogramShape } from '../counts/histogram-shape.ts';
import { readKnown } from '../counts/known-sums.ts';
import { type PartSums, packSums } from '../counts/part-sums.ts';
import { quarantinedDigest, type SourceDigest, sourceDigest } from '../counts/source-digest.ts';
import { Totals } from '../counts/totals.ts';

/** Stands for a time without a stated zone. */
export const noZone = 0x7fff;

/** Counts, each below 2^53. */
export type Counts = Uint32Array | Float64Array;

/** The results of a block's sources. Arrays have a value per source that was found, in the order of the block. */
export interface FoundColumns {
  /** The places, in the block, of the sources that were found, ascending. The others could not be processed. */
  found: Uint32Array;
  /** In pixels. */
  widths: Uint32Array;
  heights: Uint32Array;
  /**
   * Capture times as files state them, in the units of CaptureTime: NaN if a file states no time, `noZone` if it states
   * no zone. Absent if no file states a time.
   */
  captured?: { localMs: Float64Array; offsetMinutes: Int16Array } | undefined;
  /** One entry per pipeline; undefined if the counts are known already. Then `readKnown` reads them from the block. */
  parts: readonly (FoundCounts | undefined)[];
}

/** The counts of sources by one pipeline. */
export interface FoundCounts {
  /** How many pixels each channel of a source counts. */
  counted: Float64Array;
  /** The counts of all cells, also those without pixels, end to end. */
  bins: Counts;
}

/** The results of a shard's sources. */
export interface FoundShard extends FoundColumns {
  /** The sources of the shard, as SourceBlock reads them. */
  block: Uint8Array;
}

/** The summary of a shard's rows. An answer has it in place of the rows. */
export interface ShardSummary {
  /** How many sources were found, and how many pixels their images have. */
  found: number;
  pixels: number;
  /**
   * SHA-256 over the digests of the shard's sources, pipeline by pipeline; sources that were not found enter as
   * quarantined.
   */
  digest: Uint8Array;
  /** One entry per pipeline. */
  parts: PartSums[];
}

/** The result of a source by one pipeline. */
export interface ShardRow {
  /** Index of the pipeline, and place of the source in the block. */
  part: number;
  nth: number;
  /** Absent if the source could not be processed. */
  found?: FoundSource;
}

export interface FoundSource extends FoundFacts {
  bins: Counts;
}

/** The result of a source without its counts. */
export interface FoundFacts {
  size: Size;
  captured: CaptureTime | undefined;
  counted: number;
  digest: SourceDigest;
}

/**
 * The summary of a shard. `shapes` are the shapes of the pipelines' histograms. Throws RangeError as `shardRows` does.
 */
export function summariseShard(shard: FoundShard, shapes: readonly HistogramShape[]): ShardSummary {
  const rows = shardRows(shard, new SourceBlock(shard.block), shapes);
  for (;;) {
    const { done, value } = rows.next();
    if (done) return value;
  }
}

/**
 * Yields the sources of a shard in order, pipeline by pipeline, and returns the summary of these rows. Throws
 * RangeError if an array has the wrong length.
 */
export function* shardRows(
  shard: FoundColumns,
  block: SourceBlock,
  shapes: readonly HistogramShape[],
): Generator<ShardRow, ShardSummary, undefined> {
  checkLengths(shard, block, shapes);
  const { found, widths, heights } = shard;
  const sha = createHash('sha256');
  const parts: PartSums[] = [];
  for (const [part, shape] of shapes.entries()) {
    const its = shard.parts[part];
    const binCount = binsOfSource(shape);
    const totals = new Totals(binsOfCell(shape));
    const digests = new Uint8Array(quarantinedDigest.length * block.length);
    let sum = 0n;
    for (let nth = 0, row = 0; nth < block.length; nth++) {
      if (found[row] !== nth) {
        digests.set(quarantinedDigest, quarantinedDigest.length * nth);
        yield { part, nth };
        continue;
      }
      const size = { width: widths[row]!, height: heights[row]! };
      const { counted, bins } = its
        ? { counted: its.counted[row]!, bins: its.bins.subarray(binCount * row, binCount * (row + 1)) }
        : readKnown(block.known(nth)!, shapes, part)!;
      const digest = sourceDigest(size, counted, digestedBins(shape, bins));
      digests.set(digest, digest.length * nth);
      totals.add(bins, size.width * size.height);
      sum += BigInt(counted);
      yield { part, nth, found: { size, captured: captureOf(shard, row), counted, bins, digest } };
      row++;
    }
    sha.update(digests);
    parts.push(packSums(sum, totals.sums));
  }
  const pixels = widths.reduce((sum, width, row) => sum + width * heights[row]!, 0);
  return { found: found.length, pixels, digest: sha.digest(), parts };
}

function captureOf({ captured }: FoundColumns, row: number): CaptureTime | undefined {
  const localMs = captured?.localMs[row] ?? Number.NaN;
  if (Number.isNaN(localMs)) return undefined;
  const offsetMinutes = captured!.offsetMinutes[row]!;
  return offsetMinutes === noZone ? { localMs } : { localMs, offsetMinutes };
}

function checkLengths(shard: FoundColumns, block: SourceBlock, shapes: readonly HistogramShape[]): void {
  const { found, widths, heights, captured, parts } = shard;
  const columns: [string, { length: number }, number][] = [
    ['widths', widths, found.length],
    ['heights', heights, found.length],
    ['parts', parts, shapes.length],
    ...parts.flatMap((its, part): typeof columns => {
      if (!its) return [];
      const { counted, bins } = its;
      return [
        ['counted', counted, found.length],
        ['bins', bins, found.length * binsOfSource(shapes[part]!)],
      ];
    }),
  ];
  if (captured) {
    columns.push(['localMs', captured.localMs, found.length], ['offsetMinutes', captured.offsetMinutes, found.length]);
  }
  for (const [name, { length }, expected] of columns) {
    if (length !== expected) throw new RangeError(`A shard has ${length} ${name} instead of ${expected}`);
  }
  const isAscending = found.every((nth, row) => nth < block.length && (row === 0 || nth > found[row - 1]!));
  if (!isAscending) throw new RangeError(`A shard has found sources that are not among its ${block.length} in order`);
}
