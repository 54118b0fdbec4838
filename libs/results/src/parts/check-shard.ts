import type { SourceBlock } from '@halogrid/sources/source-block';
import type { HistogramShape } from '../counts/histogram-shape.ts';
import { type FoundColumns, type ShardRow, type ShardSummary, shardRows } from './found-shard.ts';
import { wrongCounts } from './wrong-counts.ts';

/**
 * The rows of a shard, or a clause that says what is wrong with them: they are impossible, or differ from the summary.
 */
export function checkShard(
  shard: FoundColumns,
  block: SourceBlock,
  shapes: readonly HistogramShape[],
  expected: ShardSummary,
): { rows: ShardRow[] } | { wrong: string } {
  const all = shardRows(shard, block, shapes);
  const rows: ShardRow[] = [];
  for (;;) {
    const { done, value } = all.next();
    if (done) {
      const wrong = differenceOf(value, expected);
      return wrong === undefined ? { rows } : { wrong };
    }
    const wrong = value.found && wrongCounts(shapes[value.part]!, value.found);
    if (wrong !== undefined) return { wrong: `has a result of source ${block.index(value.nth)} that ${wrong}` };
    rows.push(value);
  }
}

/** How a summary differs from the expected one. */
function differenceOf(summary: ShardSummary, expected: ShardSummary): string | undefined {
  for (const key of ['found', 'pixels'] as const) {
    if (summary[key] !== expected[key]) return `has ${summary[key]} ${key} instead of ${expected[key]}`;
  }
  if (Buffer.compare(summary.digest, expected.digest) !== 0) return 'has results of another digest than was answered';
  for (const [i, { counted, sums }] of summary.parts.entries()) {
    const other = expected.parts[i];
    if (counted !== other?.counted) return `counts ${counted} pixels instead of ${other?.counted}`;
    if (Buffer.compare(sums, other.sums) !== 0) return 'has other sums of counts than were answered';
  }
  return undefined;
}
