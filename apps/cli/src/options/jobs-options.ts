import { JobState, type ListRequest } from '@halogrid/proto';
import { UsageError } from '@halogrid/service';
import type { Command } from 'commander';
import { oneOf, wholeNumber } from './option-values.ts';

/** The states of a job, in the order in which it has them. */
const states = {
  pending: JobState.PENDING,
  running: JobState.RUNNING,
  finalising: JobState.FINALISING,
  complete: JobState.COMPLETE,
  failed: JobState.FAILED,
  cancelled: JobState.CANCELLED,
};
const stateNames = Object.keys(states) as (keyof typeof states)[];
const readState = oneOf('--state', stateNames);

const unitsMs = { s: 1_000, min: 60_000, h: 3_600_000, d: 86_400_000 };

/** What the options of `addJobsOptions` parse to. */
export interface JobsChoice {
  state?: JobState[];
  since?: number;
  limit: number;
}

/** The options that say which jobs are listed. */
export function addJobsOptions(command: Command): Command {
  return command
    .option('--state <name,…>', `jobs in these states: ${stateNames.join(', ')} (default: any)`, readStates)
    .option('--since <time>', 'jobs submitted since: 30min, 2h, 3d ago, or 2026-01-31T12:00', readSince)
    .option('--limit <n>', 'the newest so many of them; 0: all', wholeNumber('--limit', 0, 1_000_000), 100);
}

/** The request for them, at that time. */
export function listRequest({ state = [], since, limit }: JobsChoice): ListRequest {
  return { states: state, sinceMs: since, limit };
}

/** Adds to the states that were given before. Throws UsageError. */
function readStates(text: string, before: JobState[] = []): JobState[] {
  return [...before, ...text.split(',').map((name) => states[readState(name)])];
}

/**
 * A time in milliseconds since 1970: so long before `nowMs`, or a date, or a time of a date, as ISO 8601 has them, by the clock of
 * this machine where it has no zone. Throws UsageError.
 */
export function readSince(text: string, _before?: unknown, nowMs = Date.now()): number {
  const [, count, unit] = /^(\d{1,7})(s|min|h|d)$/.exec(text) ?? [];
  if (count !== undefined) return Math.max(0, nowMs - Number(count) * unitsMs[unit as keyof typeof unitsMs]);
  const isIso = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)?)?$/.test(text);
  // A date alone would be one of UTC.
  const timeMs = isIso ? Date.parse(text.includes('T') ? text : `${text}T00:00`) : Number.NaN;
  if (timeMs >= 0) return timeMs;
  throw new UsageError(
    `Expected a time such as 30min, 2h, 3d, 2026-01-31 or 2026-01-31T12:00 for --since but received '${text}'`,
  );
}
