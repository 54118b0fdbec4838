import { HalogridError } from '@halogrid/client/errors';
import { CommanderError } from 'commander';
import { exampleOf } from './examples.ts';

/** Errors of commander for which an example of the command helps. */
const missing: ReadonlySet<string> = new Set(['commander.missingArgument', 'commander.missingMandatoryOptionValue']);

/** Commands that ask a coordinator for a job, though the job may be one of 'halogrid run'. */
const asksForJob: ReadonlySet<string> = new Set(['results', 'status']);

/** A clause or sentence to add to the error of the command with these arguments; empty if the error says enough. */
export function remedyOf(error: unknown, args: readonly string[]): string {
  if (error instanceof CommanderError && missing.has(error.code)) {
    const example = exampleOf(args);
    if (example === undefined) return '';
    const lister = error.message.endsWith("'job'") ? "; 'halogrid jobs' lists the jobs" : '';
    return `, as in: ${example}${lister}`;
  }
  const isAway = error instanceof HalogridError && error.code === 'UNAVAILABLE';
  if (!isAway || !asksForJob.has(args[0] ?? '')) return '';
  return " A job of 'halogrid run' is only in its output folder; 'halogrid show DIR' shows it.";
}
