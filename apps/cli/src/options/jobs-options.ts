import { JobState, type ListRequest } from '@halogrid/proto';
import { readSince } from '@halogrid/service/read-since';
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
    .option('--since <time>', 'jobs submitted since: 30min, 2h, 3d ago, or 2026-01-31T12:00', (text) =>
      readSince(text, '--since'),
    )
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
