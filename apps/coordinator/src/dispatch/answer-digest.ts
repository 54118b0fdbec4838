import { createHash, type Hash } from 'node:crypto';
import type { ShardAnswer, SourceResult } from '@halogrid/jobs/shard';
import { Cause } from '@halogrid/proto';

/** An answer, its node, and a digest that is equal for equal results; the digest is computed on first use. */
export interface ComparableAnswer {
  readonly content: ShardAnswer;
  /** For job.json: the node and its device. */
  readonly node: { name: string; device: string };
  readonly digest: string;
  readonly bytes: number;
  readonly goodShare: number;
  readonly isDoubtful: boolean;
}

/** Memory of an answer or a result besides its counts. */
const resultBytes = 256;

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
  return found?.found ?? results.filter(({ pipeline = 0 }) => pipeline === 0).length;
}

function bytesOf({ results, found }: ShardAnswer): number {
  const ofFrames = found?.parts.reduce((sum, { sums }) => sum + sums.length, resultBytes) ?? 0;
  return results.reduce((sum, { bins }) => sum + resultBytes + 4 * bins.length, ofFrames);
}

/**
 * SHA-256 (hex) over every number of the results and the numbers of the sources that could not be processed, without
 * times and the wording of errors.
 */
export function answerDigest({ results, found, errors }: Pick<ShardAnswer, 'results' | 'found' | 'errors'>): string {
  const sha = createHash('sha256');
  sha.update(Float64Array.from([results.length, ...errors.map(({ source }) => source)]));
  for (const result of results) hashResult(sha, result);
  if (found) sha.update(found.digest);
  return sha.digest('hex');
}

function hashResult(sha: Hash, { pipeline = 0, source, size, rect, counted, bins }: SourceResult): void {
  const { x, y, width, height } = rect;
  const about = [pipeline, source, size.width, size.height, x, y, width, height, counted, bins.length];
  sha.update(Float64Array.from(about));
  sha.update(bins instanceof Uint32Array ? bins : Uint32Array.from(bins));
}
