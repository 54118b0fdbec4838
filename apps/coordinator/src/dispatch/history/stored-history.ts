import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { StoredDurations } from './stage-durations.ts';
import type { StoredBuckets } from './time-buckets.ts';

/** A history as it is kept with its job, for its next leader and for people. */
export interface StoredHistory {
  /** Milliseconds since 1970 when it began, and how long it is. */
  sinceMs: number;
  elapsedMs: number;
  pixels: StoredBuckets;
  stages: readonly (readonly [stage: string, durations: StoredDurations])[];
  lanes: readonly { node: string; shards: number; pixels: number; held: StoredBuckets }[];
  nodesWithoutLane: readonly string[];
}

/** It rises when the form changes. A history of another format is not shown. */
const format = 1;

/** The text of a history: some kilobytes, compressed. */
export function writeHistory(history: StoredHistory): string {
  return deflateRawSync(JSON.stringify({ format, ...history })).toString('base64');
}

/** The history in a text; undefined if it is damaged, or another version wrote it: a job goes on without. */
export function readHistory(text: string): StoredHistory | undefined {
  try {
    const { format: its, ...history } = JSON.parse(inflateRawSync(Buffer.from(text, 'base64')).toString());
    return its === format ? history : undefined;
  } catch {
    return undefined;
  }
}
