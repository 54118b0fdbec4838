import type { Rect } from '@halogrid/geometry';
import { Refusal, refuseValue } from '@halogrid/jobs/refusal';
import { activities, type FoundFrames, type ShardAnswer, type SourceResult, stageLabel } from '@halogrid/jobs/shard';
import { maxImageBins } from '@halogrid/kernels';
import {
  CountsError,
  type FoundInPart,
  joinCounts,
  type ShardCompleted,
  type SourceResult as WireResult,
} from '@halogrid/proto';
import type { CaptureTime } from '@halogrid/sources/captured';
import type { LeaseId } from '../scheduler/events.ts';
import { knownSpans } from './known-spans.ts';

/** The lease that a report answers. */
export function toLeaseId({ jobId, shard, attempt, epoch }: LeaseId): LeaseId {
  return { jobId, shard, attempt, epoch };
}

/**
 * Reads an answer from its message, with the counts of all its messages. The ledger checks whether it can be right.
 * Throws Refusal if the number of counts differs from what the results say.
 */
export function toShardAnswer(
  { results, errors, mended, stageSeconds, busySeconds, inputBytes, found, timeline }: ShardCompleted,
  counts: readonly Uint8Array[] = [],
): ShardAnswer {
  if (found && results.length > 0) refuseValue('the number of completed.results', results.length, '0 beside found');
  const bins = countsOf(results, counts);
  return {
    ...(found && { found: toFoundFrames(found) }),
    results: results.map((result, i) => toSourceResult(result, bins[i]!)),
    errors,
    ...(mended && { mended: mended.kinds }),
    stageSeconds: knownStages(stageSeconds),
    busySeconds: knownActivities(busySeconds),
    inputBytes,
    ...(timeline && { spans: knownSpans(timeline) }),
  };
}

/** Unchecked: the ledger and readers of the part check whether it can be right. */
function toFoundFrames({ part, places, ...summary }: FoundInPart): FoundFrames {
  if (part === undefined) return summary;
  return {
    ...summary,
    part,
    places: places.map(({ sources = nowhereInFile, features }) => ({ sources, ...(features && { features }) })),
  };
}

/**
 * Adds up all stages that this version does not know under one name: whatever a node calls them, a job's list of stages
 * stays short.
 */
function knownStages(stageSeconds: Record<string, number>): Record<string, number> {
  const known: Record<string, number> = {};
  for (const [stage, seconds] of Object.entries(stageSeconds)) {
    if (!Number.isFinite(seconds) || seconds < 0) continue;
    const label = stageLabel(stage);
    known[label] = (known[label] ?? 0) + seconds;
  }
  return known;
}

/** Possible seconds, of the activities that this version knows. */
function knownActivities(busySeconds: Record<string, number>): Record<string, number> {
  const isKnown = ([name, seconds]: [string, number]) =>
    activities.has(name) && Number.isFinite(seconds) && seconds >= 0;
  return Object.fromEntries(Object.entries(busySeconds).filter(isKnown));
}

const nowhereInFile = { firstGroup: 0, groups: 0, start: 0, length: 0, checksum: 0 };

const nowhere: Rect = { x: 0, y: 0, width: 0, height: 0 };

function countsOf(results: readonly WireResult[], counts: readonly Uint8Array[]): Uint32Array[] {
  const lengths = results.map(({ binCount = 0 }) => binCount);
  const all = lengths.reduce((sum, length) => sum + length, 0);
  if (all > maxImageBins) refuseValue('the number of counts of an answer', all, `at most ${maxImageBins}`);
  try {
    return joinCounts(counts, lengths);
  } catch (error) {
    throw error instanceof CountsError ? new Refusal('invalid', error.message) : error;
  }
}

function toSourceResult(
  { source, width, height, rect, counted, bins: listed, binCount, captured, pipeline }: WireResult,
  counts: Uint32Array,
): SourceResult {
  const bins = binCount === undefined ? listed : counts;
  const result: SourceResult = { source, size: { width, height }, rect: rect ?? nowhere, counted, bins };
  if (captured) result.captured = toCaptureTime(captured);
  if (pipeline) result.pipeline = pipeline;
  return result;
}

/** Leaves out a zone that is not stated: comparing and storing tell an undefined field from a missing one. */
function toCaptureTime({ localMs, offsetMinutes }: CaptureTime): CaptureTime {
  return offsetMinutes === undefined ? { localMs } : { localMs, offsetMinutes };
}
