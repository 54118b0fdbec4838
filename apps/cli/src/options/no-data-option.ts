import { allowedNoData, canonicalNoData } from '@halogrid/proto/no-data';
import { named, sentence } from '@halogrid/proto/sentence';
import { UsageError } from '@halogrid/service';
import type { Command } from 'commander';

/** What the option of `addNoDataOption` parses to. */
export interface NoDataChoice {
  nodata?: string;
}

/** The option that says which sample stands for no value. */
export function addNoDataOption(command: Command): Command {
  return command.option(
    '--nodata <value>',
    'the sample of images that stands for no value: a number, nan, or none (default: what files state)',
    readNoData,
  );
}

function readNoData(text: string): string {
  const value = canonicalNoData(text);
  if (value !== undefined) return value;
  throw new UsageError(sentence`Expected ${allowedNoData} for ${named('--nodata')} but received '${text}'`);
}
