import { allowedNoData, canonicalNoData } from '@halogrid/proto/no-data';
import { named, sentence } from '@halogrid/proto/sentence';
import { UsageError } from '@halogrid/service';
import type { Command } from 'commander';

/** What the options of `addUncountedOptions` parse to. */
export interface UncountedChoice {
  nodata?: string;
  mask?: string;
}

/** The options that say which pixels do not count. */
export function addUncountedOptions(command: Command): Command {
  command.option(
    '--nodata <value>',
    'the sample of images that stands for no value: a number, nan, or none (default: what files state)',
    readNoData,
  );
  return command.option(
    '--mask <dir|file>',
    'a folder with a mask beside each image, by its name, or the mask of every image: pixels that are 0 there do not count',
  );
}

function readNoData(text: string): string {
  const value = canonicalNoData(text);
  if (value !== undefined) return value;
  throw new UsageError(sentence`Expected ${allowedNoData} for ${named('--nodata')} but received '${text}'`);
}
