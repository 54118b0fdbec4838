import { UsageError } from '@halogrid/service';
import type { Command } from 'commander';

/** What the options of `addQuietOption` and `addVerboseOption` parse to. */
export interface VoiceChoice {
  quiet?: boolean;
  verbose?: boolean;
}

export const addQuietOption = (command: Command): Command =>
  command.option('-q, --quiet', 'print errors only on stderr, no progress or notes; results stay on stdout');

export const addVerboseOption = (command: Command): Command =>
  command.option('-v, --verbose', 'print the log of the coordinator and nodes on stderr');

/** Throws UsageError if both are given. */
export function checkVoice({ quiet, verbose }: VoiceChoice): void {
  if (quiet && verbose) throw new UsageError('Expected --quiet or --verbose but received both');
}
