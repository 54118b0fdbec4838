import type { JobsQuery, StateName } from '@halogrid/client';
import { readSince } from '@halogrid/service/read-since';
import type { Command } from 'commander';
import { parseWord, wholeNumber } from './option-values.ts';

/** The states of a job, in their order. */
const stateNames: StateName[] = ['pending', 'running', 'finalising', 'complete', 'failed', 'cancelled'];
const readState = parseWord('--state', stateNames);

/** What the options of `addJobsOptions` parse to. */
export type JobsChoice = Required<Pick<JobsQuery, 'limit'>> & JobsQuery;

/** Adds the options that say which jobs are listed. */
export function addJobsOptions(command: Command): Command {
  return command
    .option('--state <name,…>', `jobs in these states: ${stateNames.join(', ')} (default: any)`, readStates)
    .option('--since <time>', 'jobs submitted since a time: 30min, 2h or 3d ago, or 2026-01-31T12:00', (text) =>
      readSince(text, '--since'),
    )
    .option('--owner <name>', 'jobs that this name submitted')
    .option('--mine', 'jobs that your token submitted')
    .option('--limit <n>', 'list at most this many, the newest; 0: all', wholeNumber('--limit', 0, 1_000_000), 100);
}

/** Adds to the states that were given before. Throws UsageError. */
function readStates(text: string, before: StateName[] = []): StateName[] {
  return [...before, ...text.split(',').map(readState)];
}
