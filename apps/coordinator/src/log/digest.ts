import { createHash, hash } from 'node:crypto';
import type { Size } from '@halogrid/geometry';
import type { SourceDigest } from './settled-source.ts';

/** Changes when the rules below do, so that digests of different rules never look equal by accident. */
const versionLine = 'halogrid digest 1\n';

/** The digest of a source that is quarantined, whatever the reason. */
export const quarantinedDigest: SourceDigest = hash('sha256', 'quarantined', 'buffer');

/**
 * Digest of a source that is done: SHA-256 over the ASCII word `done`, then width, height, counted and every bin (cells row
 * by row, those without pixels too; of each the channels one after another), each as an unsigned 64-bit little-endian
 * integer. Numbers are integers from 0 to 2^53 - 1. A result without a histogram, or with one that devices count in their own
 * ways (`digestedBins`), is known by its size and `counted` alone: its dense result does not enter. Measured: 2 µs for 256 bins.
 */
export function sourceDigest(size: Size, counted: number, bins: ArrayLike<number>): SourceDigest {
  const { width, height } = size;
  const head = put([width, height, counted], 0, headNumbers, 0);
  if (bins.length <= hashedBins) {
    // As text it takes four fifths of the time that a buffer takes.
    return Buffer.from(hash('sha256', memory.subarray(0, put(bins, 0, bins.length, head)), 'binary'), 'latin1');
  }
  const sha = createHash('sha256').update(memory.subarray(0, 4 + 8 * headNumbers));
  for (let from = 0; from < bins.length; from += hashedBins) {
    const end = put(bins, from, Math.min(hashedBins, bins.length - from), 0);
    sha.update(memory.subarray(4, end));
  }
  return sha.digest();
}

const headNumbers = 3;

/** Bins that are hashed at once: half a mebibyte of them. */
const hashedBins = 2 ** 16;

/** What is hashed: the word, and behind it 64-bit integers in halves. Hashing ends before anything else begins. */
const memory = new Uint8Array(4 + 8 * (headNumbers + hashedBins));
const halves = new Uint32Array(memory.buffer);
memory.set(Buffer.from('done'));

/**
 * Puts `count` numbers behind the first `before` bytes, or the word; returns where they end. Arrays of integers have the byte order of
 * the machine, which is little-endian wherever Node runs. Storing takes the lower half of a number by itself.
 */
function put(numbers: ArrayLike<number>, from: number, count: number, before: number): number {
  let at = Math.max(1, before / 4);
  for (let i = from; i < from + count; i++) {
    const value = numbers[i]!;
    halves[at++] = value;
    halves[at++] = value < 2 ** 32 ? 0 : Math.floor(value / 2 ** 32);
  }
  return 4 * at;
}

/**
 * Digest of a job of several pipelines: SHA-256 over the line `halogrid digests 1`, then a line for each pipeline in order, with its
 * name, a space and the digest that a job of its own has, each with its line feed.
 */
export function digestOfAll(parts: readonly { name: string; digest: string }[]): string {
  const lines = parts.map(({ name, digest }) => `${name} ${digest}\n`);
  return hash('sha256', `halogrid digests 1\n${lines.join('')}`);
}

/**
 * Digest of a job: SHA-256 over the line `halogrid digest 1`, the line that jobLine gives (each with its line feed), then the 32-byte digests of its sources in the order of results. URIs, the cut into shards, the order of arrival
 * and the machines do not enter. Several digests may come as one, end to end.
 */
export function jobDigest(line: string, sources: Iterable<SourceDigest>): string {
  const sha = createHash('sha256').update(`${versionLine}${line}\n`);
  for (const digest of sources) sha.update(digest);
  return sha.digest('hex');
}
