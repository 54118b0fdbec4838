import { UsageError } from '@halogrid/service';
import type { Command } from 'commander';

/** What the options of `addQuietOption` and `addVerboseOption` parse to. */
export interface VoiceChoice {
  quiet?: boolean;
  verbose?: boolean;
}

export const addQuietOption = (command: Command): Command =>
  command.option('-q, --quiet', 'neither progress nor notes on stderr; errors stay');

export const addVerboseOption = (command: Command): Command =>
  command.option('-v, --verbose', 'the log of the coordinator and the nodes that it starts, on stderr');

/** Throws UsageError where both are asked for. */
export function checkVoice({ quiet, verbose }: VoiceChoice): void {
  if (quiet && verbose) throw new UsageError('Expected --quiet or --verbose but received both');
}
