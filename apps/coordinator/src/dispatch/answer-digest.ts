import { createHash, type Hash } from 'node:crypto';
import { Cause, readFrameTable } from '@halogrid/proto';
import type { FoundFrames, ShardAnswer, SourceResult } from '../job/shard.ts';

/** An answer, who gave it, and a digest that is equal for answers that say the same; computed when it is first asked for. */
export interface ComparableAnswer {
  readonly content: ShardAnswer;
  /** For job.json: which node and device did it. */
  readonly node: { name: string; device: string };
  readonly digest: string;
  readonly bytes: number;
  readonly goodShare: number;
  readonly isDoubtful: boolean;
}

/** What a result takes besides its bins, which are 4 bytes each. */
const resultBytes = 256;
/** Frames are in memory as they came, with the thread that checks them, and as they are kept. */
const copies = 3;

export function comparable(content: ShardAnswer, node: ComparableAnswer['node']): ComparableAnswer {
  let digest: string | undefined;
  const { errors } = content;
  const good = goodSources(content);
  return {
    goodShare: good / Math.max(1, good + errors.length),
    isDoubtful: errors.some(({ cause = Cause.CONTENT }) => cause !== Cause.CONTENT),
    content,
    node,
    bytes: bytesOf(content),
    get digest(): string {
      digest ??= answerDigest(content);
      return digest;
    },
  };
}

/** Sources that have a result. */
function goodSources({ results, found }: ShardAnswer): number {
  return found?.frames ?? results.filter(({ pipeline = 0 }) => pipeline === 0).length;
}

function bytesOf({ results, found }: ShardAnswer): number {
  const blocks = found ? [found.table, ...found.counts] : [];
  const ofResults = results.reduce((sum, { bins }) => sum + resultBytes + 4 * bins.length, 0);
  return blocks.reduce((sum, { length }) => sum + copies * length, ofResults);
}

/**
 * SHA-256 over every number of the results, and over which sources could not be processed. Times and the wording of errors
 * do not enter.
 */
export function answerDigest({ results, found, errors }: Pick<ShardAnswer, 'results' | 'found' | 'errors'>): string {
  const sha = createHash('sha256');
  sha.update(Float64Array.from([results.length, ...errors.map(({ source }) => source)]));
  for (const result of results) hashResult(sha, result);
  if (found) hashFrames(sha, found);
  return sha.digest('hex');
}

/** A table that is damaged says what no other does, and is refused where it is merged. */
function hashFrames(sha: Hash, { table, counts }: FoundFrames): void {
  const numbers = numbersOf(table, counts);
  for (const bytes of numbers) sha.update(bytes);
  for (const bytes of counts) sha.update(bytes);
}

function numbersOf(table: Uint8Array, counts: readonly Uint8Array[]): (Uint8Array | Uint32Array | Float64Array)[] {
  try {
    const { widths, heights, parts } = readFrameTable(table, counts);
    return [widths, heights, ...parts.flatMap(({ counted, binCounts }) => [counted, binCounts])];
  } catch {
    return [table];
  }
}

function hashResult(sha: Hash, { pipeline = 0, source, size, rect, counted, bins }: SourceResult): void {
  const { x, y, width, height } = rect;
  const about = [pipeline, source, size.width, size.height, x, y, width, height, counted, bins.length];
  sha.update(Float64Array.from(about));
  sha.update(bins instanceof Uint32Array ? bins : Uint32Array.from(bins));
}
